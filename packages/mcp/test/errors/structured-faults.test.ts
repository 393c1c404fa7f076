import { connect, fetchHandler, Server } from "@parley/mcp";
import { expect, it, onTestFinished } from "vitest";
import { channelPair } from "../../src/transport/channel/channel-pair.js";
import { serveChannel } from "../../src/transport/channel/server.js";
import { scriptedPipe } from "../client/scripted-pipe.js";
import { json, result, scriptedServer } from "../http-client/scripted-server.js";

const OPENED = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };

const FAULTS = {
  "{": [-32700, "parse_error"],
  "5": [-32600, "invalid_request"],
  '{"jsonrpc":"1.0","id":1,"method":"ping"}': [-32600, "invalid_request"],
  '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}': [-32602, "invalid_params"],
  '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}': [-32600, "invalid_request"],
  '{"jsonrpc":"2.0","id":1,"method":"ping","error":{"code":1,"message":"x"}}': [-32600, "invalid_request"],
} as const;

interface Refused {
  error: { code: number; data?: { reason?: string } };
}

it("what is no message is refused with a reason for programs, on pipes and over HTTP", async () => {
  const server = new Server({ name: "s", version: "1" }).tool("t", {}, () => "");
  const [here, there] = channelPair();
  const heard: Refused[] = [];
  serveChannel(server, there);
  here.open({ message: (text) => void heard.push(JSON.parse(text) as Refused), fault() {}, closed() {} });
  const handler = fetchHandler(server);
  for (const [text, [code, reason]] of Object.entries(FAULTS)) {
    here.send(text);
    await expect.poll(() => heard.shift()?.error).toMatchObject({ code, data: { reason } });
    const headers = {
      host: "127.0.0.1",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const response = await handler(new Request("http://127.0.0.1/mcp", { method: "POST", body: text, headers }));
    expect(response.status).toBe(400);
    expect((await response.json()) as Refused).toMatchObject({ error: { code, data: { reason } } });
  }
  here.close();
});

/** The answer to a call that is also a request. */
const both = (request: { id?: unknown }) => ({
  jsonrpc: "2.0",
  id: request.id,
  method: "ping",
  result: { content: [] },
});

it("an answer that is also a request ends the call and is not served, on pipes and over HTTP (BASE-06)", async () => {
  const pipe = scriptedPipe((message, { answer, say }) => {
    if (message.method === "tools/call") return say(both(message));
    if (message.method === "initialize") answer(message, OPENED);
  });
  const http = await scriptedServer((request, response) => {
    const { message } = request;
    if (message?.method === "tools/call") return json(response, both(message));
    if (message?.method === "initialize") return json(response, result(request, OPENED));
    response.writeHead(202).end();
  });
  onTestFinished(() => http.close());
  for (const target of [pipe, http.url]) {
    const client = await connect(target, { revisions: ["2025-11-25"] });
    await expect(client.callTool("t")).rejects.toMatchObject({
      kind: "invalid_response",
      message: expect.stringContaining("a request or a response"),
    });
    await client.close();
  }
  expect(pipe.heard().filter(({ method }) => method === undefined)).toEqual([]);
});
