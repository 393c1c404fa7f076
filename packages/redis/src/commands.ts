import { StorageError, StorageFailure } from "@parley/mcp/storage";
import { type Deadline, Deadlines } from "./deadlines.js";
import type { RedisNode } from "./redis-client.js";
import { isFull, isNotPrimary, isRedirection, isReply, isTransient, timeOut, toFailure } from "./redis-failure.js";
import type { Route } from "./route.js";
import type { Script } from "./scripts.js";

/** The wait before a command that was certainly not carried out is sent again. */
const RETRY_MS = 50;
/** A connection with open calls that says nothing for this many time-outs, and at least so long, is given up. */
const SILENT_TIMEOUTS = 2.5;
const SILENT_MS = 5_000;

/** When a command is sent again: when it was certainly not carried out, also when that is unknown, or never. */
type Repeats = "unsent" | "always" | "never";

interface Call extends Deadline {
  readonly key: string;
  args: readonly string[];
  readonly script: Script | undefined;
  readonly repeats: Repeats;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
  node: RedisNode | undefined;
  lastError: Error | undefined;
  /** True once a server that is not the primary has refused it. */
  isRefused: boolean;
}

/** The open calls of one connection. */
interface Traffic {
  open: number;
  /** When something was last heard, or when the oldest open call was sent. */
  since: number;
  isWatched: boolean;
}

export interface CommandsOptions {
  readonly timeoutMs: number;
  readonly maxPending: number;
}

/** Sends commands to the right server. Every call is settled within `timeoutMs`, with a typed error if it failed. */
export class Commands {
  readonly #route: Route;
  readonly #options: CommandsOptions;
  readonly #deadlines: Deadlines;
  readonly #traffic = new WeakMap<RedisNode, Traffic>();
  /** By key, the end of the commands that follow a redirection; later ones for the key go behind them. */
  readonly #redirected = new Map<string, Promise<unknown>>();
  #pending = 0;
  #closed = false;
  #onIdle: (() => void) | undefined;
  #idle: Promise<void> | undefined;

  constructor(route: Route, options: CommandsOptions) {
    this.#route = route;
    this.#options = options;
    this.#deadlines = new Deadlines(options.timeoutMs);
  }

  /** Sends one command; `key` says to which server of a cluster. */
  send(key: string, args: readonly string[]): Promise<unknown> {
    return this.#call(key, args, undefined, "unsent");
  }

  /** The same for one whose repetition changes nothing. */
  sendAgain(key: string, args: readonly string[]): Promise<unknown> {
    return this.#call(key, args, undefined, "always");
  }

  /** The same for those of one key that have to stay in order. */
  sendInOrder(key: string, args: readonly string[]): Promise<unknown> {
    return this.#call(key, args, undefined, "never");
  }

  /** Runs a script by its digest, or by its text where the server does not know it. */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const [key = ""] = keys;
    const words = ["EVALSHA", script.digest, `${script.keys}`, ...keys, ...args];
    return this.#call(key, words, script, script.repeats ? "always" : "unsent");
  }

  /** Refuses further calls. Settles when the open ones are settled, which their deadline bounds. */
  close(): Promise<void> {
    this.#closed = true;
    this.#idle ??= new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#pending === 0) resolve();
    });
    return this.#idle;
  }

  #call(key: string, args: readonly string[], script: Script | undefined, repeats: Repeats): Promise<unknown> {
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      const call: Call = {
        key,
        args,
        script,
        repeats,
        resolve,
        reject,
        node: undefined,
        lastError: undefined,
        isRefused: false,
        endsAt: 0,
        settled: false,
        expire: () => this.#expire(call),
      };
      this.#pending++;
      this.#deadlines.add(call);
      this.#attempt(call);
    });
  }

  /** Why a call is not even begun. */
  #refusal(): StorageFailure | undefined {
    const { timeoutMs, maxPending } = this.#options;
    const { place, downMs, lastError } = this.#route;
    if (this.#closed) {
      return new StorageFailure("unavailable", "This storage was closed.", "Make a new one with redisStorage.");
    }
    if (this.#pending >= maxPending) {
      return new StorageFailure(
        "unavailable",
        `${maxPending} calls (\`maxPending\`) wait for Redis at ${place} already.`,
        "Check the load of Redis, or raise `maxPending` of redisStorage.",
      );
    }
    // Whoever calls during an outage would only wait for the same answer.
    return downMs > timeoutMs && lastError !== undefined ? toFailure(lastError, place) : undefined;
  }

  #attempt(call: Call): void {
    this.#route.use(
      call.key,
      (node) => this.#transmit(call, node),
      (error) => this.#again(call, error),
    );
  }

  #transmit(call: Call, node: RedisNode): void {
    if (call.settled) return;
    if (this.#redirected.has(call.key)) return this.#redirect(call);
    call.node = node;
    const traffic = this.#trafficOf(node);
    if (traffic.open++ === 0) traffic.since = performance.now();
    const answered = () => {
      traffic.open--;
      traffic.since = performance.now();
    };
    node.sendCommand(call.args).then(
      (reply) => {
        answered();
        this.#settle(call, () => call.resolve(reply));
      },
      (error: Error) => {
        answered();
        this.#onError(call, node, error);
      },
    );
  }

  #onError(call: Call, node: RedisNode, error: Error): void {
    if (call.settled) return;
    if (call.script !== undefined && error.message.startsWith("NOSCRIPT")) {
      call.args = ["EVAL", call.script.source, ...call.args.slice(2)];
      this.#transmit(call, node);
    } else if (isRedirection(error) && this.#route.follow !== undefined) this.#redirect(call);
    else if (isNotPrimary(error) && this.#route.retire !== undefined) {
      this.#route.retire(node, error);
      this.#sendOnceMore(call, error);
    } else this.#againOrFail(call, error);
  }

  /** Sends a command that was refused by a server that is not the primary to the one that the address leads to now. */
  #sendOnceMore(call: Call, error: Error): void {
    const isFirst = !call.isRefused;
    call.isRefused = true;
    if (isFirst) this.#again(call, error);
    else this.#againOrFail(call, error);
  }

  #againOrFail(call: Call, error: Error): void {
    if (isTransient(error) || (call.repeats === "always" && !isReply(error))) this.#again(call, error);
    else this.#fail(call, error);
  }

  #again(call: Call, error: Error): void {
    if (call.repeats === "never") return this.#fail(call, error);
    call.lastError = error;
    call.node = undefined;
    setTimeout(() => call.settled || this.#attempt(call), RETRY_MS);
  }

  /** Lets the client of the cluster find the new place of a key, one command after the other to keep their order. */
  #redirect(call: Call): void {
    const before = this.#redirected.get(call.key) ?? Promise.resolve();
    const done = before.then(async () => {
      if (call.settled) return;
      try {
        const reply = await this.#route.follow?.(call.key, call.args);
        this.#settle(call, () => call.resolve(reply));
      } catch (error) {
        // What `follow` rejects with comes from the client, which throws errors only.
        this.#afterRedirection(call, error as Error);
      }
    });
    this.#redirected.set(call.key, done);
    void done.then(() => {
      if (this.#redirected.get(call.key) === done) this.#redirected.delete(call.key);
    });
  }

  #afterRedirection(call: Call, error: Error): void {
    if (call.script !== undefined && error.message.startsWith("NOSCRIPT")) {
      call.args = ["EVAL", call.script.source, ...call.args.slice(2)];
      this.#again(call, error);
    } else this.#againOrFail(call, error);
  }

  #fail(call: Call, error: Error): void {
    if (isFull(error)) void this.#refuseWhenFull(call);
    else this.#settle(call, () => call.reject(toFailure(error, this.#route.place)));
  }

  async #refuseWhenFull(call: Call): Promise<void> {
    const info = await call.node?.sendCommand(["INFO", "memory"]).catch(() => "");
    const maximum = Number(/^maxmemory:(\d+)/m.exec(String(info))?.[1] ?? 0);
    const fix = "Raise `maxmemory` of Redis, or keep less: shorter lifetimes, smaller logs.";
    this.#settle(call, () => call.reject(new StorageError("maxmemory", maximum, fix)));
  }

  #expire(call: Call): void {
    const { node, lastError } = call;
    const { timeoutMs } = this.#options;
    const cause = lastError ?? this.#route.lastError;
    this.#settle(call, () => call.reject(timeOut(timeoutMs, this.#route.place, node !== undefined, cause)));
    if (node !== undefined) this.#giveUpSilent(node, this.#trafficOf(node));
  }

  /** Gives a connection up that owes answers and is silent. One that is not silent for long is looked at again, also without calls. */
  #giveUpSilent(node: RedisNode, traffic: Traffic): void {
    if (traffic.open === 0 || traffic.isWatched) return;
    const silentMs = performance.now() - traffic.since;
    const leftMs = Math.max(SILENT_TIMEOUTS * this.#options.timeoutMs, SILENT_MS) - silentMs;
    if (leftMs <= 0) return this.#route.reset(node, new Error(`no answer for ${Math.round(silentMs)} ms`));
    traffic.isWatched = true;
    const timer = setTimeout(() => {
      traffic.isWatched = false;
      this.#giveUpSilent(node, traffic);
    }, leftMs);
    timer.unref();
  }

  #settle(call: Call, tell: () => void): void {
    if (call.settled) return;
    call.settled = true;
    this.#pending--;
    this.#deadlines.removeSettled();
    tell();
    if (this.#pending === 0) this.#onIdle?.();
  }

  #trafficOf(node: RedisNode): Traffic {
    let traffic = this.#traffic.get(node);
    if (traffic === undefined) {
      traffic = { open: 0, since: 0, isWatched: false };
      this.#traffic.set(node, traffic);
    }
    return traffic;
  }
}
