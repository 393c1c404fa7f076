import { StorageError, StorageFailure } from "@parley/mcp/storage";
import { type Deadline, Deadlines } from "./deadlines.js";
import type { RedisNode } from "./redis-client.js";
import {
  isFull,
  isNotPrimary,
  isRedirection,
  isReply,
  isTransient,
  timeoutFailure,
  toFailure,
} from "./redis-failure.js";
import type { Route } from "./route.js";
import type { Script } from "./scripts.js";

/** Delay before a command is sent again, in milliseconds. */
const RETRY_MS = 50;
/**
 * A connection with pending calls is dropped if nothing arrives for this many times `timeoutMs`, and for at least
 * `MIN_SILENT_MS`.
 */
const SILENT_TIMEOUTS = 2.5;
const MIN_SILENT_MS = 5_000;

/**
 * When to resend a command. `unsent`: only if it was certainly not executed. `always`: even if it may have been
 * executed. `never`: not at all, except for cluster redirections.
 */
type RetryPolicy = "unsent" | "always" | "never";

interface Call extends Deadline {
  readonly key: string;
  args: readonly string[];
  readonly script: Script | undefined;
  readonly retryPolicy: RetryPolicy;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
  node: RedisNode | undefined;
  lastError: Error | undefined;
  /** True once a server that is not the primary has refused the command. */
  wasRefused: boolean;
}

/** The pending calls of one connection. */
interface Traffic {
  open: number;
  /** Time of the last reply, or of sending the oldest pending call, in milliseconds of `performance.now()`. */
  since: number;
  isWatched: boolean;
}

export interface CommandsOptions {
  readonly timeoutMs: number;
  readonly maxPending: number;
}

/** Sends commands to the right server. Every call settles within `timeoutMs`, with a typed error if it fails. */
export class Commands {
  readonly #route: Route;
  readonly #options: CommandsOptions;
  readonly #deadlines: Deadlines;
  readonly #traffic = new WeakMap<RedisNode, Traffic>();
  /**
   * For each key, the most recent command that follows a redirection. Later commands for the key wait until it has
   * settled.
   */
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

  /** Sends one command. `key` selects the server of a cluster. */
  send(key: string, args: readonly string[]): Promise<unknown> {
    return this.#call(key, args, undefined, "unsent");
  }

  /** Sends a command that is safe to repeat. */
  sendIdempotent(key: string, args: readonly string[]): Promise<unknown> {
    return this.#call(key, args, undefined, "always");
  }

  /**
   * Sends a command that must stay in order with other commands for the same key. The command is not retried, because
   * that could change the order. Only cluster redirections are followed, one command at a time.
   */
  sendInOrder(key: string, args: readonly string[]): Promise<unknown> {
    return this.#call(key, args, undefined, "never");
  }

  /** Runs a script by its digest, or by its source if the server has not cached it. */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const [key = ""] = keys;
    const command = ["EVALSHA", script.digest, `${script.keys}`, ...keys, ...args];
    return this.#call(key, command, script, script.idempotent ? "always" : "unsent");
  }

  /** Refuses further calls. Resolves when all pending calls have settled, which takes at most `timeoutMs`. */
  close(): Promise<void> {
    this.#closed = true;
    this.#idle ??= new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#pending === 0) resolve();
    });
    return this.#idle;
  }

  #call(key: string, args: readonly string[], script: Script | undefined, retryPolicy: RetryPolicy): Promise<unknown> {
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      const call: Call = {
        key,
        args,
        script,
        retryPolicy,
        resolve,
        reject,
        node: undefined,
        lastError: undefined,
        wasRefused: false,
        endsAt: 0,
        settled: false,
        expire: () => this.#expire(call),
      };
      this.#pending++;
      this.#deadlines.add(call);
      this.#attempt(call);
    });
  }

  /** The reason to reject a call without sending it. */
  #refusal(): StorageFailure | undefined {
    const { timeoutMs, maxPending } = this.#options;
    const { place, downMs, lastError } = this.#route;
    if (this.#closed) {
      return new StorageFailure("unavailable", "This storage was closed.", "Create a new one with redisStorage.");
    }
    if (this.#pending >= maxPending) {
      return new StorageFailure(
        "unavailable",
        `${maxPending} calls (\`maxPending\`) already wait for Redis at ${place}.`,
        "Check the load of Redis, or raise `maxPending` of redisStorage.",
      );
    }
    // During an outage, a further call would only wait for the same error, so it is rejected at once.
    return downMs > timeoutMs && lastError !== undefined ? toFailure(lastError, place) : undefined;
  }

  #attempt(call: Call): void {
    this.#route.use(
      call.key,
      (node) => this.#transmit(call, node),
      (error) => this.#retryLater(call, error),
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
      this.#retryOnPrimary(call, error);
    } else this.#retryOrFail(call, error);
  }

  /**
   * Resends a command that was refused because the server is not the primary. A new connection to the same address may
   * reach the primary. From the second refusal on, the command is resent only if the usual rules allow it.
   */
  #retryOnPrimary(call: Call, error: Error): void {
    const isFirst = !call.wasRefused;
    call.wasRefused = true;
    if (isFirst) this.#retryLater(call, error);
    else this.#retryOrFail(call, error);
  }

  #retryOrFail(call: Call, error: Error): void {
    if (isTransient(error) || (call.retryPolicy === "always" && !isReply(error))) this.#retryLater(call, error);
    else this.#fail(call, error);
  }

  #retryLater(call: Call, error: Error): void {
    if (call.retryPolicy === "never") return this.#fail(call, error);
    call.lastError = error;
    call.node = undefined;
    setTimeout(() => call.settled || this.#attempt(call), RETRY_MS);
  }

  /** Lets the cluster client find the new server of a key. Sends commands one by one to keep their order. */
  #redirect(call: Call): void {
    const before = this.#redirected.get(call.key) ?? Promise.resolve();
    const done = before.then(async () => {
      if (call.settled) return;
      try {
        const reply = await this.#route.follow?.(call.key, call.args);
        this.#settle(call, () => call.resolve(reply));
      } catch (error) {
        // `follow` rejects with errors of the client, which are always `Error` objects.
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
      this.#retryLater(call, error);
    } else this.#retryOrFail(call, error);
  }

  #fail(call: Call, error: Error): void {
    if (isFull(error)) void this.#refuseWhenFull(call);
    else this.#settle(call, () => call.reject(toFailure(error, this.#route.place)));
  }

  async #refuseWhenFull(call: Call): Promise<void> {
    const info = await call.node?.sendCommand(["INFO", "memory"]).catch(() => "");
    const maximum = Number(/^maxmemory:(\d+)/m.exec(String(info))?.[1] ?? 0);
    const fix = "Raise `maxmemory` of Redis, or store less: use shorter lifetimes or smaller logs.";
    this.#settle(call, () => call.reject(new StorageError("maxmemory", maximum, fix)));
  }

  #expire(call: Call): void {
    const { node, lastError } = call;
    const { timeoutMs } = this.#options;
    const cause = lastError ?? this.#route.lastError;
    this.#settle(call, () => call.reject(timeoutFailure(timeoutMs, this.#route.place, node !== undefined, cause)));
    if (node !== undefined) this.#resetIfSilent(node, this.#trafficOf(node));
  }

  /**
   * Drops a connection that has pending calls and is silent for too long. Otherwise checks again later, even if no
   * further call expires.
   */
  #resetIfSilent(node: RedisNode, traffic: Traffic): void {
    if (traffic.open === 0 || traffic.isWatched) return;
    const silentMs = performance.now() - traffic.since;
    const leftMs = Math.max(SILENT_TIMEOUTS * this.#options.timeoutMs, MIN_SILENT_MS) - silentMs;
    if (leftMs <= 0) return this.#route.reset(node, new Error(`no answer for ${Math.round(silentMs)} ms`));
    traffic.isWatched = true;
    const timer = setTimeout(() => {
      traffic.isWatched = false;
      this.#resetIfSilent(node, traffic);
    }, leftMs);
    timer.unref();
  }

  #settle(call: Call, settle: () => void): void {
    if (call.settled) return;
    call.settled = true;
    this.#pending--;
    this.#deadlines.removeSettled();
    settle();
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
