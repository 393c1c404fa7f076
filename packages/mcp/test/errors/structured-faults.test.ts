import { fetchHandler, Server } from "@parley/mcp";
import { expect, it } from "vitest";
import { channelPair } from "../../src/transport/channel/channel-pair.js";
import { serveChannel } from "../../src/transport/channel/server.js";

const FAULTS = {
  "{": [-32700, "parse_error"],
  "5": [-32600, "invalid_request"],
  '{"jsonrpc":"1.0","id":1,"method":"ping"}': [-32600, "invalid_request"],
  '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}': [-32602, "invalid_params"],
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
