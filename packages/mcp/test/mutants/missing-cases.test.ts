import { describe, expect, it } from "vitest";
import { SchemaError } from "../../src/schema/schema-error.js";
import { compileSchema } from "../../src/schema/validate.js";
import { Server } from "../../src/server/server.js";
import { serveChannel } from "../../src/transport/channel-server.js";
import { channelPair } from "../../src/transport/in-memory.js";
import { Outbox } from "../../src/transport/outbox.js";

// Cases that a mutant survived for want of.

/** A raw client of the handshake era on a pipe; `heard` are the messages of the server. */
async function raw(server: Server) {
  const [here, there] = channelPair();
  const heard: { id?: unknown; method?: string; result?: unknown; error?: { code: number }; params?: never }[] = [];
  serveChannel(server.endpoint(), there);
  here.open({ message: (text) => void heard.push(JSON.parse(text)), fault() {}, closed() {} });
  const say = (message: object) => here.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const clientInfo = { name: "raw", version: "1" };
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  say({ id: "hello", method: "initialize", params: hello });
  await expect.poll(() => heard.length).toBe(1);
  say({ method: "notifications/initialized" });
  return { heard, say, hello };
}

describe("cases that a mutant was needed to find", () => {
  it("R5: a request with the id 0 can be cancelled", async () => {
    let aborted = false;
    const server = new Server({ name: "s", version: "1" }).tool("wait", {}, (_, ctx) => {
      ctx.signal.addEventListener("abort", () => {
        aborted = true;
      });
      return new Promise<string>(() => {});
    });
    const { say } = await raw(server as unknown as Server);
    say({ id: 0, method: "tools/call", params: { name: "wait", arguments: {} } });
    say({ method: "notifications/cancelled", params: { requestId: 0 } });
    await expect.poll(() => aborted).toBe(true);
  });

  it("R23: a second `initialize` is refused and changes nothing", async () => {
    const { heard, say, hello } = await raw(new Server({ name: "s", version: "1" }));
    say({ id: 2, method: "initialize", params: { ...hello, protocolVersion: "2025-03-26" } });
    await expect.poll(() => heard.length).toBe(2);
    expect(heard[1]).toMatchObject({ id: 2, error: { code: -32600 } });
  });

  it("I4: progress that does not grow is not sent", async () => {
    const server = new Server({ name: "s", version: "1" }).tool("work", {}, (_, ctx) => {
      for (const value of [1, 1, 0.5, 2]) ctx.progress(value);
      return "done";
    });
    const { heard, say } = await raw(server as unknown as Server);
    const params = { name: "work", arguments: {}, _meta: { progressToken: "t" } };
    say({ id: 1, method: "tools/call", params });
    await expect.poll(() => heard.some(({ id }) => id === 1)).toBe(true);
    const told = heard.flatMap(({ params: told }) =>
      told === undefined ? [] : [(told as { progress: number }).progress],
    );
    expect(told).toEqual([1, 2]);
  });

  it("P11: a schema whose references fan out is given up", () => {
    const $defs: Record<string, object> = { end: { type: "string" } };
    for (let level = 0; level < 21; level++) {
      const next = level === 20 ? "#/$defs/end" : `#/$defs/l${level + 1}`;
      $defs[`l${level}`] = { anyOf: [{ allOf: [{ $ref: next }, false] }, { $ref: next }] };
    }
    const validator = compileSchema({ $ref: "#/$defs/l0", $defs }, { limits: { steps: 50_000 } });
    expect(() => validator.validate(1)).toThrowError(SchemaError);
  });

  it("I7: what waits for a peer that does not read is bounded in number and in length", () => {
    const few = new Outbox({ maxQueuedMessages: 2 });
    few.push("a");
    few.push("b");
    expect(() => few.push("c")).toThrowError(/maxQueuedMessages/);
    const short = new Outbox({ maxQueuedBytes: 3 });
    short.push("ab");
    expect(() => short.push("cd")).toThrowError(/maxQueuedBytes/);
  });
});
