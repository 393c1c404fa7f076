import { type Client, connect, Server } from "@parley/mcp";
import { type ListeningHandle, serveHttp } from "@parley/mcp/node";
import { memoryStorage } from "@parley/mcp/storage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../free-port.js";
import { EventReader, LegacyClient } from "../http/legacy-client.js";
import { gate, waitUntil } from "../http/watched.js";
import { isInstalled, type ProxyName, type ProxyProgram, startProxy } from "./proxy-program.js";

const NODES = 3;
/** More than Caddy needs to learn that a node is not ready. */
const DELAY_MS = 300;
const ERAS = ["2025-11-25", "2026-07-28"] as const;
const INPUT = { type: "object", properties: { nonce: { type: "string" } }, required: ["nonce"] } as const;
const ANSWER = { type: "object", properties: { word: { type: "string" } }, required: ["word"] } as const;

/** Three nodes on one storage, as they would be on three machines. */
class Nodes {
  readonly ports: number[] = [];
  readonly ran: string[] = [];
  readonly cancelled: string[] = [];
  passed = Promise.resolve();
  readonly #storage = memoryStorage({ clock: Date });
  readonly #handles: ListeningHandle[] = [];

  async start(): Promise<void> {
    for (let at = 0; at < NODES; at++) {
      this.ports.push(await freePort());
      await this.startAt(at);
    }
  }

  async startAt(at: number): Promise<void> {
    const port = this.ports[at] ?? 0;
    const times = { streamAfterMs: 20 };
    const options = { host: "127.0.0.1", port, publicUrl: "http://127.0.0.1/mcp", drainDelayMs: DELAY_MS };
    this.#handles[at] = await serveHttp(this.#server(`node ${at}`), { ...options, times, allowUnauthenticated: true });
  }

  /** Replaces one node as a deployment does. */
  async replace(at: number): Promise<void> {
    await this.#handles[at]?.drain(5_000);
    await this.startAt(at);
  }

  async close(): Promise<void> {
    await Promise.all(this.#handles.map((handle) => handle.close()));
  }

  #server(name: string): Server {
    return new Server({ name: "nodes", version: "1.0.0" }, { storage: this.#storage, secret: "0123456789".repeat(4) })
      .tool("node", {}, () => name)
      .tool("count", {}, async (_args, ctx) => {
        for (let step = 1; step <= 4; step++) {
          ctx.progress(step);
          if (step === 2) await this.passed;
        }
        return "counted";
      })
      .tool("charge", { input: INPUT }, async ({ nonce }) => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        this.ran.push(nonce);
        return nonce;
      })
      .tool("ask", { input: INPUT }, async ({ nonce }, ctx) => (await ctx.elicit(nonce, ANSWER)).word)
      .tool("wait", { input: INPUT }, async ({ nonce }, ctx) => {
        ctx.progress(1);
        await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve, { once: true }));
        this.cancelled.push(nonce);
        return "stopped";
      }) as unknown as Server;
  }
}

for (const name of ["nginx", "caddy"] as const) {
  const installed = isInstalled(name);
  if (!installed) console.log(`${name} is not installed: its part of the guide is not tested`);
  describe.runIf(installed)(`several nodes behind ${name}, configured as in the guide`, () => through(name));
}

function through(name: ProxyName): void {
  const nodes = new Nodes();
  let proxy: ProxyProgram;
  const joined = (revision: (typeof ERAS)[number]) =>
    connect(proxy.url, {
      revisions: [revision],
      onElicit: ({ message }) => ({ action: "accept", content: { word: `${message}!` } }),
    }) as Promise<Client>;

  beforeAll(async () => {
    await nodes.start();
    proxy = await startProxy(name, nodes.ports);
  }, 30_000);
  afterAll(async () => {
    await proxy?.stop();
    await nodes.close();
  });

  it.each(ERAS)("any node answers, and questions come back to the call that asked (%s)", async (revision) => {
    const client = await joined(revision);
    const names = await Promise.all(Array.from({ length: 12 }, () => client.call("node")));
    expect(new Set(names).size).toBe(NODES);
    for (let at = 0; at < 6; at++) expect(await client.call("ask", { nonce: `q${at}` })).toBe(`q${at}!`);
    await client.close();
  });

  it.each(ERAS)("events arrive while the call runs (%s)", async (revision) => {
    const client = await joined(revision);
    const { passed, open } = gate();
    nodes.passed = passed;
    const heard: number[] = [];
    // The node goes on when the second report has arrived: a proxy that kept it back would wait for ever.
    const onProgress = ({ progress }: { progress: number }) => {
      heard.push(progress);
      if (progress === 2) open();
    };
    expect(await client.call("count", {}, { onProgress })).toBe("counted");
    expect(heard).toEqual([1, 2, 3, 4]);
    await client.close();
  });

  it("a stream that was cut goes on at whatever node is next", async () => {
    const client = new LegacyClient(proxy.url);
    await client.open();
    const { passed, open } = gate();
    nodes.passed = passed;
    const leaving = new AbortController();
    const reader = new EventReader(await client.call("count", {}, leaving.signal, { progressToken: 1 }));
    const first = await reader.message();
    leaving.abort();
    open();
    const again = new EventReader(await client.get({ "last-event-id": first.eventId ?? "" }));
    const rest = [await again.message(), await again.message(), await again.message(), await again.message()];
    expect(rest.slice(0, 3)).toMatchObject([2, 3, 4].map((progress) => ({ params: { progress } })));
    expect(rest[3]).toMatchObject({ result: { content: [{ text: "counted" }] } });
    await client.send("DELETE", {});
  });

  it.each(ERAS)("a cancelled call is cancelled at its node (%s)", async (revision) => {
    const client = await joined(revision);
    const leaving = new AbortController();
    const nonce = `${name} ${revision}`;
    const onProgress = () => leaving.abort();
    await expect(client.call("wait", { nonce }, { signal: leaving.signal, onProgress })).rejects.toThrow();
    await waitUntil(() => nodes.cancelled.includes(nonce));
    await client.close();
  });

  it.each(ERAS)("nodes are replaced one by one, and no call notices (%s)", { timeout: 30_000 }, async (revision) => {
    const client = await joined(revision);
    const answers: unknown[] = [];
    const asked: string[] = [];
    let replacing = true;
    // With its new configuration nginx closes idle connections of clients, perhaps while a call is on its way there.
    const resend = name === "nginx" ? "always" : "never";
    const caller = async (lane: number) => {
      for (let at = 0; replacing; at++) {
        const nonce = `${revision} ${lane} ${at}`;
        asked.push(nonce);
        answers.push(await client.call("charge", { nonce }, { resend }));
      }
    };
    const calling = Promise.all([0, 1, 2].map(caller));
    for (let at = 0; at < NODES; at++) {
      await proxy.without(at);
      await nodes.replace(at);
      await proxy.without(undefined);
    }
    replacing = false;
    await calling;
    expect(answers.toSorted()).toEqual(asked.toSorted());
    if (resend === "never") expect(nodes.ran.filter((nonce) => nonce.startsWith(revision))).toHaveLength(asked.length);
    await client.close();
  });
}
