import { type Client, connect, Server } from "@parley/mcp";
import { defineExtension } from "@parley/mcp/extension";
import { memoryStorage } from "@parley/mcp/storage";
import { type TaskOptions, tasks } from "@parley/mcp/tasks";
import { fakeClock } from "@parley/mcp/testing";
import { z } from "zod";
import { type FaultyStorage, faultyStorage } from "./faulty-storage.js";

/** A client that declares the extension and handles nothing of it. */
const bare = defineExtension({ id: "io.modelcontextprotocol/tasks", settings: {}, resultTypes: ["task"] });

/** One process of a server: its own view of the storage and a client that is connected to it. */
export interface TestNode {
  readonly server: Server;
  readonly storage: FaultyStorage;
  readonly warnings: string[];
  /** A request of its client; its result as it came. */
  ask(method: string, params: object): Promise<Record<string, unknown>>;
  /** Begins a task and gives its id. */
  start(tool: string, args?: object): Promise<string>;
  get(taskId: string): Promise<Record<string, unknown>>;
  client(): Promise<Client>;
}

/** Processes of one server that share a storage, on a clock that the test moves. */
export class TestNodes {
  readonly clock = fakeClock(1_000_000);
  readonly shared = memoryStorage({ clock: this.clock });
  readonly #define: (server: Server, name: string) => void;
  readonly #options: TaskOptions;
  readonly #cleanups: (() => unknown)[] = [];

  /** `define` gives each process its tools; it learns the name of the process. */
  constructor(define: (server: Server, name: string) => void, options: TaskOptions = {}) {
    this.#define = define;
    this.#options = options;
  }

  node(name: string, options: TaskOptions = {}): TestNode {
    const storage = faultyStorage(this.shared);
    const warnings: string[] = [];
    const server = new Server(
      { name: "s", version: "1" },
      {
        storage,
        secret: "0123456789abcdef0123456789abcdef",
        platform: { ...this.clock.platform, warn: (text: string) => void warnings.push(text) },
        extensions: [tasks({ leaseMs: 3000, pollIntervalMs: 10, ...this.#options, ...options })],
      },
    );
    this.#define(server, name);
    let connected: Promise<Client> | undefined;
    const client = () => {
      connected ??= connect(server, {
        revisions: ["2026-07-28"],
        extensions: [bare],
        onElicit: () => ({ action: "cancel" }),
      });
      return connected;
    };
    this.#cleanups.push(async () => (await connected)?.close());
    const ask = async (method: string, params: object) => {
      const answer = (await client()).request(method as never, params as never);
      return (await this.during(answer as Promise<unknown>)) as Record<string, unknown>;
    };
    return {
      server,
      storage,
      warnings,
      client,
      ask,
      start: async (tool, args = {}) => String((await ask("tools/call", { name: tool, arguments: args }))["taskId"]),
      get: (taskId) => ask("tasks/get", { taskId }),
    };
  }

  /** Lets time pass, with everything that happens in it; in longer parts where nothing but beats happens. */
  async pass(ms: number, partMs = 100): Promise<void> {
    for (let left = ms; left > 0; left -= partMs) {
      await this.clock.advance(Math.min(partMs, left));
      await turns(4);
    }
  }

  /** Lets a little time pass until something is so. */
  async until<T>(look: () => T | Promise<T>, done: (value: T) => boolean = Boolean): Promise<T> {
    for (let round = 0; round < 600; round++) {
      const value = await look();
      if (done(value)) return value;
      await this.pass(100);
    }
    throw new Error("it never came to be so");
  }

  /** The outcome of work that may need time to pass. */
  async during<T>(work: Promise<T>): Promise<T> {
    let settled = false;
    const watched = work.finally(() => {
      settled = true;
    });
    watched.catch(() => {});
    for (let round = 0; round < 20 && !settled; round++) await turns(1);
    for (let round = 0; round < 1000 && !settled; round++) await this.pass(100);
    if (!settled) throw new Error("it hangs");
    return watched;
  }

  /** Keys that are in the storage now. */
  keys(): number {
    this.shared.sweep();
    return this.shared.usage().keys;
  }

  async end(): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0)) await cleanup();
  }
}

/** Turns of the event loop, because answers between client and server take some. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A promise that a test settles. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Loads what a server loads with its first steps and questions, which takes time that a stopped clock does not show. */
export async function warmUp(): Promise<void> {
  const server = new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 1 })] });
  server.tool("t", { task: "required" }, async (_args, ctx) => {
    await ctx.step("a", () => 1);
    await ctx.elicit("go on?", z.object({}));
    return "";
  });
  const client = await connect(server, { extensions: [tasks()], onElicit: () => ({ action: "decline" }) });
  await client.call("t").catch(() => {});
  await client.close();
}
