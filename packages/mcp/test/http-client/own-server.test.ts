import { afterEach, describe, expect, it } from "vitest";
import { serveHttp } from "../../src/node/http/serve-http.js";
import { platform } from "../../src/node/platform.js";
import { Server } from "../../src/server/server.js";
import { httpClientTransport } from "../../src/transport/http/client/client.js";
import { closeAll, later, SENDERS } from "./opened.js";
import { recordingReceiver, rejection } from "./recording-receiver.js";

afterEach(closeAll);

async function serve() {
  const server = new Server({ name: "adder", version: "1" }).tool(
    "add",
    { input: { type: "object", properties: { a: { type: "number" } }, required: ["a"] } as const },
    ({ a }, ctx) => {
      ctx.progress(0.5);
      return `got ${a}`;
    },
  );
  const handle = await serveHttp(server, { port: 0 });
  later(() => handle.close());
  return handle.url;
}

describe.each(SENDERS)("our own server, reached over %s", (_name, makeSender) => {
  it("answers a stateful dialogue: handshake, notification, call with progress, end of the session", async () => {
    const transport = httpClientTransport(await serve(), { sender: makeSender(), platform });
    const receiver = recordingReceiver();
    await transport.open(receiver);
    const ask = (id: number, method: string, params: unknown) =>
      transport.request({ id, method, text: JSON.stringify({ jsonrpc: "2.0", id, method, params }) });
    const clientInfo = { name: "t", version: "1" };
    await ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    transport.established?.({ headers: { "MCP-Protocol-Version": "2025-11-25" }, hasSessions: true });
    const method = "notifications/initialized";
    await transport.notify({ method, text: JSON.stringify({ jsonrpc: "2.0", method }) });
    const answer = await ask(2, "tools/call", { name: "add", arguments: { a: 4 }, _meta: { progressToken: 2 } });
    expect(answer).toMatchObject({ content: [{ type: "text", text: "got 4" }] });
    expect(receiver.notifications).toMatchObject([{ message: { method: "notifications/progress" }, about: 2 }]);
    await transport.close();
    expect(receiver.faults).toEqual([]);
    expect(await rejection(ask(3, "tools/list", {}))).toMatchObject({ kind: "connection_closed" });
  });
});
