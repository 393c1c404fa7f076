import { describe, expect, it } from "vitest";
import type { Revision } from "../../src/protocol/revisions.js";
import { Server } from "../../src/server/server.js";
import { channelPair } from "../../src/transport/channel/channel-pair.js";
import { serveChannel } from "../../src/transport/channel/server.js";

interface Answered {
  id?: unknown;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: { supported?: unknown } };
}

/** A pipe to a server, on which every message is written by hand. */
function pipe(revisions?: Revision[]) {
  const server = new Server({ name: "s", version: "1" }, { revisions }).tool("t", {}, () => "done");
  const [mine, theirs] = channelPair();
  const answers: Answered[] = [];
  // Safe: what a server sends is read by what the tests expect of it.
  mine.open({ message: (text) => void answers.push(JSON.parse(text) as Answered), fault() {}, closed() {} });
  serveChannel(server, theirs);
  return async (...messages: object[]): Promise<Answered[]> => {
    answers.length = 0;
    for (const message of messages) mine.send(JSON.stringify(message));
    await new Promise((resolve) => setTimeout(resolve, 20));
    return [...answers];
  };
}

const ask = (id: number, method: string, params?: object) => ({ jsonrpc: "2.0", id, method, params });
const tell = (method: string, params?: object) => ({ jsonrpc: "2.0", method, params });
const initialize = (protocolVersion: string, id = 1) =>
  ask(id, "initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "c", version: "1" } });
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe("a server on a pipe", () => {
  it("answers a version that it does not know, and one without a handshake, with its newest that has one (LIFE-03, LIFE-14)", async () => {
    for (const version of ["1999-01-01", "2099-01-01", "2026-07-28"]) {
      const [answer] = await pipe()(initialize(version));
      expect(answer?.result).toMatchObject({ protocolVersion: "2025-11-25" });
    }
  });

  it("refuses requests before the handshake, but answers a ping (LIFE-13, PING-01)", async () => {
    const [refused, ping] = await pipe()(ask(1, "tools/list"), ask(2, "ping"));
    expect(refused).toMatchObject({ id: 1, error: { code: -32600 } });
    expect(ping).toMatchObject({ id: 2, result: {} });
  });

  it("serves both eras at once (ERA-16)", async () => {
    const send = pipe();
    await send(initialize("2025-11-25"), tell("notifications/initialized"));
    const call = { name: "t", arguments: {} };
    const answers = await send(ask(2, "tools/call", call), ask(3, "tools/call", { ...call, _meta: META }));
    const [older, newer] = [2, 3].map((id) => answers.find((answer) => answer.id === id)?.result);
    expect(older).toMatchObject({ content: [{ text: "done" }] });
    expect(older).not.toHaveProperty("resultType");
    expect(newer).toMatchObject({ content: [{ text: "done" }], resultType: "complete" });
  });

  it("says what is missing when it speaks the newest revision only (ERA-19)", async () => {
    const [both] = await pipe()(ask(1, "tools/list"));
    expect(both?.error?.code).toBe(-32600);
    const [modern] = await pipe(["2026-07-28"])(ask(1, "tools/list"));
    expect(modern?.error?.code).toBe(-32602);
    expect(JSON.stringify(modern?.error)).toContain("2026-07-28");
  });

  it("takes `initialize` from no batch (BASE-12)", async () => {
    const send = pipe();
    await send(initialize("2025-03-26"), tell("notifications/initialized"));
    const [batch] = await send([initialize("2025-03-26", 7)]);
    expect(batch).toMatchObject([{ id: 7, error: { code: -32600, message: expect.stringContaining("batch") } }]);
  });

  it("ignores a cancellation without a usable id (CANC-05)", async () => {
    const send = pipe();
    await send(initialize("2025-11-25"), tell("notifications/initialized"));
    for (const requestId of [undefined, null, {}, [1], 1.5, "unknown", 99]) {
      expect(await send(tell("notifications/cancelled", { requestId }))).toEqual([]);
    }
    expect(await send(ask(5, "ping"))).toMatchObject([{ id: 5, result: {} }]);
  });
});
