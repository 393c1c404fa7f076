import { connect, type McpError } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import type { Platform } from "../../src/platform/platform.js";
import { impatient } from "./impatient.js";
import { greetsIn, type Heard, memberOf, type Pipe, scriptedPipe } from "./scripted-pipe.js";

const RESTARTS = 100;
const CALLERS = 20;

/** A server that counts how often each call ran, and dies with calls in flight. */
function mortalServer(era: "stateful" | "stateless") {
  const runs = new Map<string, number>();
  const waiting: { message: Heard; pipe: Pipe }[] = [];
  const server = scriptedPipe((message, pipe) => {
    if (greetsIn(era, message, pipe)) return;
    if (message.method === "tools/call") {
      const key = String(memberOf(message, "arguments")["key"]);
      runs.set(key, (runs.get(key) ?? 0) + 1);
    }
    waiting.push({ message, pipe });
  });
  const answerOne = () => {
    const next = waiting.shift();
    if (next === undefined) return;
    const { message, pipe } = next;
    const text = message.method === "tools/call" ? "done" : "";
    const result = text === "" ? { resources: [] } : { content: [{ type: "text", text }] };
    pipe.answer(message, { resultType: "complete", ...result });
  };
  return {
    runs,
    server,
    answerOne,
    kill() {
      waiting.length = 0;
      server.pipes.at(-1)?.end();
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

for (const era of ["stateful", "stateless"] as const) {
  describe(`a ${era} server that is killed ${RESTARTS} times under ${CALLERS} callers`, () => {
    it("every call has one outcome, none runs twice, and each restart costs one handshake", async () => {
      const { runs, server, kill, answerOne } = mortalServer(era);
      const client = await connect(server, { platform: impatient });
      let recovered = 0;
      client.on("session.recovered", () => recovered++);
      const outcomes = { done: 0, lost: 0, listed: 0, unlisted: 0 };
      let over = false;
      let calls = 0;
      const caller = async (own: number) => {
        for (let round = 0; !over; round++) {
          calls++;
          if (own % 2 === 0) {
            const key = `${own}/${round}`;
            await client.callTool("work", { key }).then(
              () => outcomes.done++,
              (error: McpError) => {
                expect(error.kind).toBe("connection_closed");
                outcomes.lost++;
              },
            );
          } else {
            await client.listResources().then(
              () => outcomes.listed++,
              () => outcomes.unlisted++,
            );
          }
        }
      };
      const callers = Array.from({ length: CALLERS }, (_, own) => caller(own));
      for (let restart = 1; restart <= RESTARTS; restart++) {
        for (let spin = 0; spin < 15; spin++) {
          answerOne();
          await turn();
        }
        // The other calls are still running now.
        kill();
        for (let spin = 0; recovered < restart && spin < 1000; spin++) await turn();
        expect(recovered).toBe(restart);
      }
      over = true;
      for (let spin = 0; spin < 1000; spin++) {
        answerOne();
        await turn();
      }
      await Promise.all(callers);

      const { done, lost, listed, unlisted } = outcomes;
      expect(done + lost + listed + unlisted).toBe(calls);
      expect([...runs.values()].filter((count) => count > 1)).toEqual([]);
      expect(unlisted).toBe(0);
      expect(Math.min(done, lost, listed)).toBeGreaterThan(RESTARTS / 2);
      const greetings = server.methods().filter((method) => method === "initialize" || method === "server/discover");
      // The very first handshake of a legacy server is preceded by the question which era it speaks.
      expect(greetings).toHaveLength(RESTARTS + (era === "stateful" ? 2 : 1));
      await client.close();
    });
  });
}

describe("replay", () => {
  const dying = (answerAfter: number) =>
    scriptedPipe((message, pipe, connection) => {
      if (greetsIn("stateful", message, pipe)) return;
      if (connection <= answerAfter) pipe.end();
      else pipe.answer(message, { content: [], tools: [], resources: [] });
    });

  it("a list that was lost with its connection is fetched on the next one", async () => {
    const server = dying(1);
    const client = await connect(server, { platform: impatient });
    expect(await client.listResources()).toEqual({ content: [], tools: [], resources: [] });
    expect(server.methods().filter((method) => method === "resources/list")).toHaveLength(2);
    await client.close();
  });

  it("a list that is lost twice is not sent a third time", async () => {
    const server = dying(2);
    const client = await connect(server, { platform: impatient });
    await expect(client.listResources()).rejects.toMatchObject({ kind: "connection_closed" });
    expect(server.methods().filter((method) => method === "resources/list")).toHaveLength(2);
    await client.close();
  });

  it("a tool call is lost with its connection, unless the caller or the client allows to repeat it", async () => {
    const server = dying(1);
    const client = await connect(server, { platform: impatient });
    await expect(client.callTool("work")).rejects.toMatchObject({
      kind: "connection_closed",
      fix: expect.stringContaining("only if that is safe"),
    });
    await client.close();

    const allowed = await connect(dying(1), { platform: impatient });
    await allowed.callTool("work", {}, { resend: "always" });
    await allowed.close();

    const always = await connect(dying(1), { platform: impatient, resend: "always" });
    await always.callTool("work");
    await always.close();
  });

  it("resend: never also holds for lists", async () => {
    const client = await connect(dying(1), { platform: impatient, resend: "never" });
    await expect(client.listTools()).rejects.toMatchObject({ kind: "connection_closed" });
    await client.close();
  });

  for (const annotation of ["readOnlyHint", "idempotentHint"]) {
    it(`a tool that was listed with ${annotation} is repeated`, async () => {
      const tool = { name: "work", inputSchema: { type: "object" }, annotations: { [annotation]: true } };
      const server = scriptedPipe((message, pipe, connection) => {
        if (greetsIn("stateful", message, pipe)) return;
        if (message.method === "tools/list") pipe.answer(message, { tools: [tool] });
        else if (connection === 1) pipe.end();
        else pipe.answer(message, { content: [] });
      });
      const client = await connect(server, { platform: impatient });
      await client.listTools();
      expect(await client.callTool("work")).toEqual({ content: [] });
      await client.close();
    });
  }
});

describe("while the connection recovers", () => {
  it("new calls wait for it, within their own deadlines", async () => {
    let opens = 0;
    const server = scriptedPipe((message, pipe, connection) => {
      // The second connection never answers the handshake.
      if (connection === 2) return;
      if (!greetsIn("stateful", message, pipe)) pipe.answer(message, { resources: [] });
    });
    const client = await connect(server, { platform: impatient });
    client.on("state", ({ state }) => {
      if (state === "recovering") opens++;
    });
    server.pipes[0]?.end();
    for (let spin = 0; server.pipes.length < 2 && spin < 1000; spin++) await turn();
    expect(client.state).toBe("recovering");
    await expect(client.listResources(undefined, { timeouts: { totalMs: 50 } })).rejects.toMatchObject({
      kind: "timeout",
      data: { deadline: "total", ms: 50 },
    });
    await expect(client.listResources(undefined, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
      kind: "cancelled",
    });
    expect(opens).toBe(1);
    await client.close();
    await expect(client.listResources()).rejects.toMatchObject({ kind: "connection_closed" });
  });

  it("a connection that cannot be made again leaves the client disconnected, and says so to each call", async () => {
    const server = scriptedPipe((message, pipe) => {
      if (!greetsIn("stateful", message, pipe)) pipe.answer(message, {});
    });
    const client = await connect(server.makeTransport());
    server.pipes[0]?.end();
    await turn();
    expect(client.state).toBe("disconnected");
    await expect(client.ping()).rejects.toMatchObject({ kind: "connection_closed", fix: expect.any(String) });
    await client.close();
    expect(client.state).toBe("closed");
  });

  it("the next call tries again after the recovery was given up", async () => {
    let alive = true;
    const server = scriptedPipe((message, pipe) => {
      if (!alive) pipe.end();
      else if (!greetsIn("stateful", message, pipe)) pipe.answer(message, {});
    });
    // Time passes at once, so that the limit of attempts in a minute costs none.
    let now = 0;
    const hasty: Partial<Platform> = {
      ...impatient,
      monotonic: () => now,
      timer(ms, run) {
        const timer = ms >= 30_000 ? undefined : setImmediate(run);
        now += ms < 30_000 ? ms : 0;
        return { cancel: () => clearImmediate(timer) };
      },
    };
    const client = await connect(server, { platform: hasty });
    alive = false;
    server.pipes[0]?.end();
    for (let spin = 0; client.state !== "disconnected" && spin < 5000; spin++) {
      now += 10_000;
      await turn();
    }
    expect(client.state).toBe("disconnected");
    expect(server.pipes.length).toBeLessThanOrEqual(1 + 8);
    alive = true;
    now += 600_000;
    await client.ping();
    expect(client.state).toBe("ready");
    await client.close();
  });
});
