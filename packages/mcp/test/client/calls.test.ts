import { connect, type McpError } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import type { Client } from "../../src/client/client.js";
import type { ClientOptions } from "../../src/client/contract/options.js";
import { until, virtualTime } from "../http-client/virtual-time.js";
import { greetsIn, type Heard, memberOf, type Pipe, type ScriptedPipe, scriptedPipe } from "./scripted-pipe.js";

type Era = "stateful" | "stateless";

interface Held {
  client: Client;
  server: ScriptedPipe;
  /** Calls that wait for the test to answer them. */
  calls: { message: Heard; pipe: Pipe }[];
}

/** A client of a server that answers nothing by itself but the handshake. */
async function held(era: Era, options: ClientOptions = {}): Promise<Held> {
  const calls: Held["calls"] = [];
  const server = scriptedPipe((message, pipe) => {
    if (!greetsIn(era, message, pipe)) calls.push({ message, pipe });
  });
  return { client: await connect(server, options), server, calls };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const progress = (message: Heard, value: number) => ({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: { progressToken: memberOf(message, "_meta")["progressToken"], progress: value },
});

for (const era of ["stateful", "stateless"] as const) {
  describe(`deadlines in the ${era} era`, () => {
    it("a total of 150 ms with a silent server ends after 150 ms, whatever idle says", async () => {
      const time = virtualTime();
      const { client } = await held(era, { timeouts: { idleMs: 2000, totalMs: 150 }, platform: time.platform });
      const started = time.now();
      const call = client.callTool("work");
      const rejected = expect(call).rejects.toMatchObject({
        kind: "timeout",
        message: "tools/call passed its total deadline of 150 ms; no message arrived",
        data: { deadline: "total", ms: 150 },
        fix: expect.stringContaining("timeouts.totalMs"),
      });
      await turn();
      expect(time.next()).toBe(true);
      await rejected;
      expect(time.now() - started).toBe(150);
      await client.close();
    });

    it("LIFE-11: the server is told once that nobody waits any more", async () => {
      const { client, server } = await held(era);
      await expect(client.callTool("work", {}, { timeouts: { idleMs: 20 } })).rejects.toMatchObject({
        kind: "timeout",
        data: { deadline: "idle" },
      });
      await turn();
      const notices = server.heard().filter(({ method }) => method === "notifications/cancelled");
      expect(notices).toHaveLength(1);
      expect(notices[0]?.params?.["requestId"]).toBe(server.heard().find(({ method }) => method === "tools/call")?.id);
      await client.close();
    });

    it("LIFE-12: progress keeps a call alive past its idle deadline, and never past the total", async () => {
      const time = virtualTime();
      const options = { timeouts: { idleMs: 1000, totalMs: 10_000 }, platform: time.platform };
      const { client, calls } = await held(era, options);
      const seen: number[] = [];
      let ended: McpError | undefined;
      const started = time.now();
      const call = client.callTool("work", {}, { onProgress: ({ progress: value }) => seen.push(value) });
      call.catch((error: McpError) => {
        ended = error;
      });
      await turn();
      for (let step = 1; ended === undefined && step < 100; step++) {
        const { message, pipe } = calls[0] as Held["calls"][0];
        pipe.say(progress(message, step));
        await turn();
        const before = time.now();
        // Half a second passes; timers that are due by then run.
        while (time.now() < before + 500 && time.next(500 - (time.now() - before))) await turn();
        advance(time, before + 500);
        await turn();
      }
      expect(ended?.kind).toBe("timeout");
      expect(ended?.data).toMatchObject({ deadline: "total", ms: 10_000 });
      expect(time.now() - started).toBeLessThanOrEqual(10_500);
      expect(seen.length).toBeGreaterThan(15);
      await client.close();
    });

    it("an idle deadline says when the server was last heard", async () => {
      const time = virtualTime();
      const { client, calls } = await held(era, { timeouts: { idleMs: 60 }, platform: time.platform });
      const call = client.callTool("work");
      const rejected = expect(call).rejects.toMatchObject({
        message: expect.stringMatching(/idle deadline.*last message arrived \d+ ms/),
        data: { heardAfter: 30 },
      });
      await turn();
      const { message, pipe } = calls[0] as Held["calls"][0];
      advance(time, time.now() + 30);
      pipe.say(progress(message, 1));
      await turn();
      while (time.next()) await turn();
      await rejected;
      await client.close();
    });

    it("a log message about the only call in flight is a sign of life", async () => {
      const time = virtualTime();
      const { client, calls } = await held(era, { timeouts: { idleMs: 80 }, platform: time.platform });
      const logged: unknown[] = [];
      client.on("notifications/message", ({ data }) => logged.push(data));
      const call = client.callTool("work");
      for (let beat = 0; beat < 4; beat++) {
        await turn();
        advance(time, time.now() + 40);
        calls[0]?.pipe.say({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: beat } });
      }
      const { message, pipe } = calls[0] as Held["calls"][0];
      pipe.answer(message, { content: [] });
      expect(await call).toEqual({ content: [] });
      expect(logged).toEqual([0, 1, 2, 3]);
      await client.close();
    });

    it("after close no timer, no call and no waiting is left", async () => {
      const before = process.getActiveResourcesInfo().length;
      const { client } = await held(era);
      const calls = Array.from({ length: 50 }, () => client.callTool("work"));
      const settled = Promise.allSettled(calls);
      await turn();
      await client.close();
      for (const outcome of await settled) {
        expect(outcome).toMatchObject({ status: "rejected", reason: { kind: "connection_closed" } });
      }
      expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before);
    });
  });

  describe(`cancellation in the ${era} era`, () => {
    it("CANC-01, CANC-02: a signal ends the call at once and tells the server the reason", async () => {
      const { client, server } = await held(era);
      const controller = new AbortController();
      const call = client.callTool("work", {}, { signal: controller.signal });
      await turn();
      controller.abort("the user left");
      await expect(call).rejects.toMatchObject({ kind: "cancelled", cause: "the user left" });
      await turn();
      expect(server.methods().filter((method) => method === "notifications/cancelled")).toHaveLength(1);
      await client.close();
    });

    it("a signal that was aborted before sends nothing at all", async () => {
      const { client, server } = await held(era);
      const before = server.heard().length;
      await expect(client.callTool("work", {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
        kind: "cancelled",
      });
      expect(server.heard()).toHaveLength(before);
      await client.close();
    });

    it("CANC-04: a late answer disturbs nobody", async () => {
      const { client, calls } = await held(era);
      const controller = new AbortController();
      const call = client.callTool("work", {}, { signal: controller.signal });
      await turn();
      controller.abort();
      await expect(call).rejects.toMatchObject({ kind: "cancelled" });
      const { message, pipe } = calls[0] as Held["calls"][0];
      pipe.answer(message, { content: [] });
      const next = client.callTool("work");
      await turn();
      calls[1]?.pipe.answer(calls[1].message, { content: [{ type: "text", text: "second" }] });
      expect(await next).toEqual({ content: [{ type: "text", text: "second" }] });
      await client.close();
    });

    it("one signal for 1,000 calls leaves no listeners behind", async () => {
      const { client, calls } = await held(era);
      const { signal } = new AbortController();
      let listeners = 0;
      const counting = new Proxy(signal, {
        get(target, key) {
          if (key === "addEventListener")
            return (...args: [string, () => void]) => {
              listeners++;
              target.addEventListener(...args);
            };
          if (key === "removeEventListener")
            return (...args: [string, () => void]) => {
              listeners--;
              target.removeEventListener(...args);
            };
          return Reflect.get(target, key, target);
        },
      });
      const all = Array.from({ length: 1000 }, () => client.callTool("work", {}, { signal: counting }));
      await turn();
      for (const { message, pipe } of calls) pipe.answer(message, { content: [] });
      await Promise.all(all);
      expect(listeners).toBe(0);
      await client.close();
    });
  });

  describe(`answers in the ${era} era`, () => {
    it("10,000 calls answered in another order each get their own answer", async () => {
      const { client, calls } = await held(era);
      const count = 10_000;
      const all = Array.from({ length: count }, (_, index) => client.callTool("echo", { index }));
      await turn();
      for (let at = count - 1; at >= 0; at--) {
        // A fixed permutation: 7919 and 10,000 have no common factor.
        const { message, pipe } = calls[(at * 7919) % count] as Held["calls"][0];
        const { index } = memberOf(message, "arguments");
        pipe.answer(message, { content: [{ type: "text", text: String(index) }] });
      }
      const results = await Promise.all(all);
      expect(results.every(({ content }, index) => (content[0] as { text: string }).text === String(index))).toBe(true);
      await client.close();
    });

    it("PROG-03, PROG-06: progress that does not grow, or belongs to nobody, is not told", async () => {
      const { client, calls } = await held(era);
      const seen: number[] = [];
      const call = client.callTool("work", {}, { onProgress: ({ progress: value }) => seen.push(value) });
      await turn();
      const { message, pipe } = calls[0] as Held["calls"][0];
      for (const value of [1, 1, 0.5, 2, 2, 3]) pipe.say(progress(message, value));
      pipe.say({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: "nobody", progress: 1 } });
      pipe.say({ jsonrpc: "2.0", method: "notifications/progress", params: { progress: "much" } });
      pipe.answer(message, { content: [] });
      await call;
      expect(seen).toEqual([1, 2, 3]);
      await client.close();
    });

    it("parameters that are no JSON reject the call and send nothing", async () => {
      const { client } = await held(era);
      await expect(client.callTool("work", { big: 1n })).rejects.toMatchObject({
        kind: "invalid_params",
        fix: expect.stringContaining("BigInt"),
      });
      await client.close();
    });

    it("trace context and meta travel in _meta; a malformed context is left out", async () => {
      const { client, calls } = await held(era, {
        trace: () => ({ traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", baggage: "a=b" }),
      });
      const traced = client.callTool("work", {}, { meta: { "com.example/x": 1 } });
      const untraced = client.callTool("work", {}, { trace: { traceparent: "nonsense" } });
      await turn();
      const [first, second] = calls.map(({ message }) => message.params?.["_meta"]);
      expect(first).toMatchObject({
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        baggage: "a=b",
        "com.example/x": 1,
      });
      expect(second).not.toHaveProperty("traceparent");
      for (const { message, pipe } of calls) pipe.answer(message, { content: [] });
      await Promise.all([traced, untraced]);
      await client.close();
    });
  });
}

describe("the server asks while a call runs", () => {
  it("time that the user takes to answer does not count as silence of the server", async () => {
    let answered: (() => void) | undefined;
    const time = virtualTime();
    const { client, calls } = await held("stateful", {
      timeouts: { idleMs: 60 },
      platform: time.platform,
      onElicit: () =>
        new Promise((resolve) => {
          answered = () => resolve({ action: "accept" });
        }),
    });
    const call = client.callTool("work");
    await turn();
    const { message, pipe } = calls[0] as Held["calls"][0];
    const requestedSchema = { type: "object", properties: {} };
    pipe.say({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: { message: "?", requestedSchema } });
    await until(() => answered !== undefined);
    // More than twice the deadline passes while somebody thinks.
    advance(time, time.now() + 150);
    await turn();
    answered?.();
    await until(() => pipe.heard.some(({ id }) => id === "q"));
    pipe.answer(message, { content: [] });
    expect(await call).toEqual({ content: [] });
    await client.close();
  });
});

/** Moves a virtual clock to `at`, where no timer is due before. */
function advance({ platform, next, now }: ReturnType<typeof virtualTime>, at: number): void {
  if (now() >= at) return;
  platform.timer(at - now(), () => {});
  next();
}
