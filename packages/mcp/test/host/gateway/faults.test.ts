import { type Client, connect } from "@parley/mcp";
import { Host, type HostEntry } from "@parley/mcp/host";
import { serveHttp } from "@parley/mcp/node";
import { afterEach, describe, expect, it } from "vitest";
import { NEWEST_STATEFUL, NEWEST_STATELESS } from "../../../src/protocol/revisions.js";
import { bundleFixture } from "../../stdio/bundle-fixture.js";
import { askingServer } from "./asking-server.js";

const program = bundleFixture(new URL("./asking-program.ts", import.meta.url));
const closers: (() => Promise<unknown>)[] = [];

type Any = Client<Record<string, { args: object; result: string }>>;

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function gateway(entry: HostEntry, { answerMs = 600_000 } = {}) {
  const host = new Host({
    servers: { s: { ...("endpoint" in entry ? { server: entry } : entry), prefix: false } as HostEntry },
    client: { revisions: [NEWEST_STATEFUL], onWarning: () => {} },
    restarts: { backOff: { firstMs: 20, longestMs: 50 } },
    startWaitMs: 30_000,
  });
  const front = host.asServer({ server: { limits: { answerMs } } });
  closers.push(() => host.close());
  await host.start();
  return async (options: Parameters<typeof connect>[1]) => {
    const client = await connect(front, options);
    closers.push(() => client.close());
    // Its tools are known to the server behind only.
    return client as unknown as Any;
  };
}

const stdio = async () => ({ command: process.execPath, args: [await program] });
const accept = (name: string) => ({ action: "accept" as const, content: { name } });
const never = () => new Promise<never>(() => {});

describe.each([NEWEST_STATEFUL, NEWEST_STATELESS])("a client of %s", (revision) => {
  const revisions = [revision];

  it("is told when its server dies while a question is open, and is served again afterwards", async () => {
    const open = await gateway(await stdio());
    const client = await open({
      revisions,
      onElicit: ({ message }) => (message === "last words?" ? never() : accept("A")),
    });
    if (revision === NEWEST_STATEFUL) {
      await expect(client.call("ask-and-die")).rejects.toThrow(/not available|ended before/);
    } else {
      // It has the question, and learns of the end when it answers.
      const late = await open({
        revisions,
        async onElicit() {
          await new Promise((resolve) => setTimeout(resolve, 600));
          return accept("A");
        },
      });
      await expect(late.call("ask-and-die")).rejects.toThrow();
    }
    expect(await client.call("ask", { who: "x" })).toBe("x is A");
  });

  it("ends the call at the server when it leaves", async () => {
    const open = await gateway(askingServer());
    const leaving = await open({ revisions });
    const waiting = leaving.call("wait", { who: "left" }).catch(() => "gone");
    const other = await open({ revisions });
    await expect.poll(() => other.call("begun")).toBe("left");
    await leaving.close();
    expect(await waiting).toBe("gone");
    await expect.poll(() => other.call("ended")).toBe("left");
  });

  it("is not asked without end", async () => {
    const open = await gateway(askingServer());
    let asked = 0;
    const client = await open({
      revisions,
      onElicit() {
        asked++;
        return accept("A");
      },
      maxRounds: 50,
    });
    const call = client.call("ask-endlessly", {}, { timeouts: { totalMs: 20_000 } });
    if (revision === NEWEST_STATELESS) {
      await expect(call).rejects.toThrow(/rounds/);
      expect(asked).toBeLessThanOrEqual(11);
    } else {
      // Where questions are requests, the server's own number of them is the only bound, as without a gateway.
      await expect(call).resolves.toBe("never");
    }
  });

  it("is never shown the question of another client at a server that does not say whose it is", async () => {
    const open = await gateway(await stdio());
    const seen: Record<string, string[]> = { one: [], two: [] };
    const clients = await Promise.all(
      ["one", "two"].map((name) =>
        open({
          revisions,
          async onElicit({ message }) {
            seen[name]?.push(message);
            await new Promise((resolve) => setTimeout(resolve, 5));
            return accept(name);
          },
        }),
      ),
    );
    const calls = Array.from({ length: 20 }, (_, index) => {
      const name = index % 2 === 0 ? "one" : "two";
      return clients[index % 2]?.call("ask", { who: name }).catch((error: Error) => error.message);
    });
    for (const [index, outcome] of (await Promise.all(calls)).entries()) {
      const name = index % 2 === 0 ? "one" : "two";
      if (outcome !== `${name} is ${name}`) expect(outcome).toMatch(/several clients|could not answer/);
    }
    expect(new Set(seen["one"])).not.toContain("name of two?");
    expect(new Set(seen["two"])).not.toContain("name of one?");
  });
});

describe("a client that answers in rounds", () => {
  it("loses its call when it does not come back in time, and the server is told", async () => {
    const open = await gateway(askingServer(), { answerMs: 300 });
    let asks = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asks = resolve;
    });
    const slow = {
      revisions: [NEWEST_STATELESS],
      onElicit: () => {
        asks();
        return never();
      },
    };
    const client = await open(slow);
    const stop = new AbortController();
    const call = client.call("ask", { who: "x" }, { signal: stop.signal }).catch(() => "gone");
    await isAsked;
    stop.abort();
    expect(await call).toBe("gone");
    // As long as it is in flight at the server, nobody else can be asked over the same connection.
    const other = await open({ ...slow, onElicit: () => accept("B") });
    const asked = () => other.call("ask", { who: "y" }).catch(() => "refused");
    await expect.poll(asked, { interval: 100 }).toBe("y is B");
  });

  it("learns that its call is over when it answers too late", async () => {
    const open = await gateway(askingServer(), { answerMs: 100 });
    const late = await open({
      revisions: [NEWEST_STATELESS],
      async onElicit() {
        await new Promise((resolve) => setTimeout(resolve, 500));
        return accept("late");
      },
    });
    await expect(late.call("ask", { who: "y" })).rejects.toThrow(/no longer running|expired|too late/);
  });

  it("may send the same round twice, and both get the result of the one call", async () => {
    const front = await rawGateway();
    const first = await front.call("ask", { who: "twice" }, {});
    const [key = ""] = Object.keys(first["inputRequests"] as object);
    const round = { inputResponses: { [key]: accept("A") }, requestState: first["requestState"] };
    const both = await Promise.all([
      front.call("ask", { who: "twice" }, round),
      front.call("ask", { who: "twice" }, round),
    ]);
    for (const result of both) expect(result).toMatchObject({ content: [{ text: "twice is A" }] });
    // So does whoever lost the answer.
    expect(await front.call("ask", { who: "twice" }, round)).toMatchObject({ content: [{ text: "twice is A" }] });
  });
});

/** A gateway over HTTP, and a client that sends what it is told. */
async function rawGateway() {
  const host = new Host({
    servers: { s: { server: askingServer(), prefix: false } },
    client: { revisions: [NEWEST_STATEFUL] },
  });
  const served = await serveHttp(host.asServer(), { port: 0 });
  closers.push(async () => {
    await served.close();
    await host.close();
  });
  await host.start();
  let id = 0;
  return {
    async call(name: string, args: object, more: object): Promise<Record<string, unknown>> {
      id++;
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": NEWEST_STATELESS,
        "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
      };
      const params = { name, arguments: args, ...more, _meta };
      const response = await fetch(served.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": NEWEST_STATELESS,
          "mcp-method": "tools/call",
          "mcp-name": name,
        },
        body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }),
      });
      const text = await response.text();
      const lines = text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
      const answer = JSON.parse(lines.at(-1) ?? text) as { result?: Record<string, unknown>; error?: Error };
      if (answer.result === undefined) throw new Error(answer.error?.message ?? text);
      return answer.result;
    },
  };
}
