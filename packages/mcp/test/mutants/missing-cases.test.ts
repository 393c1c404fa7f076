import { describe, expect, it } from "vitest";
import { collect, walkPages } from "../../src/client/features/pages.js";
import { serveHttp } from "../../src/node/http/serve-http.js";
import { platform } from "../../src/node/platform.js";
import { SchemaError } from "../../src/schema/json-schema/schema-error.js";
import { compileValidator } from "../../src/schema/json-schema/validate.js";
import { Server } from "../../src/server/server.js";
import { channelPair } from "../../src/transport/channel/channel-pair.js";
import { Outbox } from "../../src/transport/channel/outbox.js";
import { serveChannel } from "../../src/transport/channel/server.js";
import { SessionKeys } from "../../src/transport/http/session/nodes/records.js";
import { ReconnectPacer } from "../../src/transport/reconnect.js";

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
  it("a request with the id 0 can be cancelled", async () => {
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

  it("a second `initialize` is refused and changes nothing", async () => {
    const { heard, say, hello } = await raw(new Server({ name: "s", version: "1" }));
    say({ id: 2, method: "initialize", params: { ...hello, protocolVersion: "2025-03-26" } });
    await expect.poll(() => heard.length).toBe(2);
    expect(heard[1]).toMatchObject({ id: 2, error: { code: -32600 } });
  });

  it("progress that does not grow is not sent", async () => {
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

  it("a result that JSON cannot hold is an error of the server, which lives on", async () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const server = new Server({ name: "s", version: "1" })
      .tool("big", {}, () => ({ big: 1n }))
      .tool("cycle", {}, () => cycle)
      .tool("fine", {}, () => "fine");
    const { heard, say } = await raw(server as unknown as Server);
    for (const name of ["big", "cycle", "fine"])
      say({ id: name, method: "tools/call", params: { name, arguments: {} } });
    await expect.poll(() => heard.length).toBe(4);
    expect(heard.find(({ id }) => id === "big")).toMatchObject({ error: { code: -32603 } });
    expect(heard.find(({ id }) => id === "cycle")).toMatchObject({ error: { code: -32603 } });
    expect(heard.find(({ id }) => id === "fine")).toMatchObject({ result: { content: [{ text: "fine" }] } });
  });

  it("a schema whose references fan out is given up", () => {
    const $defs: Record<string, object> = { end: { type: "string" } };
    for (let level = 0; level < 21; level++) {
      const next = level === 20 ? "#/$defs/end" : `#/$defs/l${level + 1}`;
      $defs[`l${level}`] = { anyOf: [{ allOf: [{ $ref: next }, false] }, { $ref: next }] };
    }
    const validator = compileValidator({ $ref: "#/$defs/l0", $defs }, { limits: { steps: 50_000 } });
    expect(() => validator.validate(1)).toThrowError(SchemaError);
  });

  it("what waits for a peer that does not read is bounded in number and in length", () => {
    const few = new Outbox({ maxQueuedMessages: 2 });
    few.push("a");
    few.push("b");
    expect(() => few.push("c")).toThrowError(/maxQueuedMessages/);
    const short = new Outbox({ maxQueuedBytes: 3 });
    short.push("ab");
    expect(() => short.push("cd")).toThrowError(/maxQueuedBytes/);
  });

  it("a stream that brings nothing is tried exactly as often as it may be", () => {
    for (const attempts of [0, 1, 2, 10]) {
      const pacer = new ReconnectPacer(platform, attempts);
      let tries = 0;
      for (; tries < 50 && pacer.ended(false) !== undefined; tries++) pacer.begun();
      expect(tries).toBe(attempts);
    }
  });

  it("a cursor that comes back ends a walk over pages", async () => {
    let pages = 0;
    const walk = walkPages("things", async () => ({ items: [++pages], next: "again" }));
    await expect(collect(walk)).rejects.toMatchObject({ kind: "limit_exceeded", message: /twice/ });
    expect(pages).toBe(2);
  });

  it("a body without a length is refused once it is longer than allowed", async () => {
    const handle = await serveHttp(new Server({ name: "s", version: "1" }), {
      port: 0,
      limits: { maxMessageBytes: 1000 },
    });
    const body = new ReadableStream({
      start(controller) {
        for (let part = 0; part < 4; part++) controller.enqueue(new Uint8Array(500).fill(32));
        controller.close();
      },
    });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    // `duplex` is what Node asks for with a streamed body; the web's types do not have it.
    const init = { method: "POST", headers, body, duplex: "half", signal: AbortSignal.timeout(5000) } as RequestInit;
    const response = await fetch(handle.url, init);
    expect(response.status).toBe(413);
    await handle.close();
  });

  it("GHSA-84j6-jc92-77jm: streams of two sessions have two logs, also when their names are the same", () => {
    const keys = new SessionKeys("t");
    expect(keys.log("one", "s")).not.toBe(keys.log("two", "s"));
  });
});
