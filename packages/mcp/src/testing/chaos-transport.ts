import { platform as runtimePlatform } from "#platform";
import type { Id } from "../jsonrpc/message.js";
import type { Platform } from "../platform/platform.js";
import { McpError } from "../protocol/error.js";
import { channelPair } from "../transport/channel/channel-pair.js";
import { channelTransport } from "../transport/channel/client.js";
import { serveChannel } from "../transport/channel/server.js";
import { endpointOf, type Servable } from "../transport/serve-handle.js";
import type { Outgoing, Receiver, Transport } from "../transport/transport.js";

/** The faults of a connection. Probabilities range from 0 to 1. By default no fault happens. */
export interface ChaosOptions {
  /**
   * The seed of the random numbers. The same seed causes the same faults for the same order of messages. Default: 1.
   */
  seed?: number | undefined;
  /** The minimum and maximum delay of each message, in milliseconds. Default: no delay. */
  delayMs?: readonly [least: number, most: number] | undefined;
  /** The probability that a request is lost before it reaches the server. */
  loseRequests?: number | undefined;
  /** The probability that an answer is lost after the server has done the work. */
  loseAnswers?: number | undefined;
  /** The probability that a notification from the server is lost. */
  loseNotifications?: number | undefined;
  /** The probability that a notification from the server is delivered twice. */
  repeatNotifications?: number | undefined;
  /** The probability that an answer arrives after the message that follows it. */
  reorderAnswers?: number | undefined;
  /**
   * The probability that an answer or a notification arrives damaged.
   *
   * As with a real connection, a damaged notification is reported as a fault. A damaged answer over HTTP rejects the
   * request with kind `decode_error`. Over a pipe, a damaged answer is reported as a fault, and only a deadline ends the
   * call.
   */
  corrupt?: number | undefined;
  /** Ends the connection after this many requests. Default: never. */
  cutAfter?: number | undefined;
  /**
   * Drops all messages without an error after this many requests, as if the peer's machine were gone. Default: never.
   */
  halfOpenAfter?: number | undefined;
  /** The clock for the delays, for example a fake clock. Default: the runtime's own clock. */
  platform?: Pick<Platform, "timer"> | undefined;
}

/** A transport that a test can break. */
export interface ChaosTransport extends Transport {
  /** Breaks the connection as a network failure would: pending requests reject, and the client is notified. */
  cut(): void;
  /** Drops all further messages without an error, as if the peer's machine were gone. */
  halfOpen(): void;
}

/** Maximum time that an answer waits for another message to overtake it. After that, the answer is delivered. */
const MAX_REORDER_WAIT_MS = 10;

/**
 * Creates a faulty connection for tests, to a `Server` in this process or over any transport.
 *
 * A lost request or answer has the same effect as on a real network: the request rejects with kind `connection_closed`,
 * and it is unknown whether the server executed the request. To let a client reconnect after a cut, pass
 * `{ makeTransport: () => chaosTransport(server, …) }` to `connect`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function chaosTransport(target: Transport | Servable, options: ChaosOptions = {}): ChaosTransport {
  return new FaultyTransport("target" in target ? target : inProcess(target), options);
}

function inProcess(servable: Servable): Transport {
  const [here, there] = channelPair();
  serveChannel(endpointOf(servable), there);
  return channelTransport(here, "the server in this process");
}

class FaultyTransport implements ChaosTransport {
  readonly kind: Transport["kind"];
  readonly target: string;
  readonly #inner: Transport;
  readonly #options: ChaosOptions;
  readonly #platform: Pick<Platform, "timer">;
  readonly #random: () => number;
  readonly #pending = new Map<Id, (reason: Error) => void>();
  /**
   * The delivery of the last incoming message. Each message waits for the previous one, so that no message about a
   * request arrives after the request's answer.
   */
  #inbound: Promise<void> = Promise.resolve();
  #receiver: Receiver | undefined;
  #requests = 0;
  #ended = false;
  #silent = false;
  /** Answers that wait for the next message to overtake them. */
  readonly #overtaken = new Set<() => void>();

  constructor(inner: Transport, options: ChaosOptions) {
    this.#inner = inner;
    this.#options = options;
    this.#platform = options.platform ?? runtimePlatform;
    this.#random = generator(options.seed ?? 1);
    this.kind = inner.kind;
    this.target = inner.target;
  }

  open(receiver: Receiver): void | Promise<void> {
    this.#receiver = receiver;
    return this.#inner.open({
      request: (message, about) =>
        this.#arrive(() => undefined).then(() =>
          this.#silent ? new Promise(() => {}) : receiver.request(message, about),
        ),
      notification: (message, about) => {
        if (this.#happens(this.#options.loseNotifications)) return;
        if (this.#happens(this.#options.corrupt)) return void this.#arrive(() => receiver.fault(this.#damaged()));
        const times = this.#happens(this.#options.repeatNotifications) ? 2 : 1;
        for (let time = 0; time < times; time++) void this.#arrive(() => receiver.notification(message, about));
      },
      late: (id, result) => void this.#arrive(() => receiver.late?.(id, result)),
      fault: (error) => receiver.fault(error),
      missed: () => receiver.missed?.(),
      userWait: (about) => receiver.userWait?.(about) ?? (() => {}),
      closed: (reason) => void this.#arrive(() => this.#end(reason)),
    });
  }

  request(request: Outgoing & { id: Id }): Promise<unknown> {
    const { id } = request;
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        if (this.#pending.delete(id)) act();
      };
      this.#pending.set(id, (reason) => settle(() => reject(reason)));
      const count = ++this.#requests;
      void this.#forward(request, settle, resolve, reject).then(() => {
        if (count === this.#options.cutAfter) this.cut();
        if (count === this.#options.halfOpenAfter) this.halfOpen();
      });
    });
  }

  async #forward(
    request: Outgoing & { id: Id },
    settle: (act: () => void) => void,
    resolve: (result: unknown) => void,
    reject: (error: unknown) => void,
  ): Promise<void> {
    const { loseRequests, loseAnswers, reorderAnswers, corrupt } = this.#options;
    const lostOnTheWay = this.#happens(loseRequests);
    const lostOnReturn = this.#happens(loseAnswers);
    const late = this.#happens(reorderAnswers);
    const damaged = this.#happens(corrupt);
    await this.#sleep();
    if (this.#silent) return;
    if (this.#ended || lostOnTheWay || !this.#pending.has(request.id)) return settle(() => reject(this.#lost()));
    const answered = this.#inner.request(request);
    if (late) await answered.catch(() => {}).then(() => this.#waitToBeOvertaken());
    await answered.then(
      (result) =>
        this.#arrive(() => {
          if (damaged && this.kind !== "http") return this.#receiver?.fault(this.#damaged());
          settle(() => {
            if (damaged) reject(this.#damaged());
            else if (lostOnReturn) reject(this.#lost());
            else resolve(result);
          });
        }),
      (error) => this.#arrive(() => settle(() => reject(error))),
    );
  }

  async notify(notification: Outgoing): Promise<void> {
    await this.#sleep();
    if (!this.#ended && !this.#silent) await this.#inner.notify(notification);
  }

  abandon(id: Id, reason: Error): void {
    this.#pending.get(id)?.(reason);
    this.#inner.abandon(id, reason);
  }

  established(facts: { headers: Record<string, string>; hasSessions: boolean }): void {
    this.#inner.established?.(facts);
  }

  reset(): void {
    this.#inner.reset?.();
  }

  cut(): void {
    this.#end(this.#lost());
    void this.#inner.close();
  }

  halfOpen(): void {
    this.#silent = true;
  }

  async close(): Promise<void> {
    this.#receiver = undefined;
    this.#end(undefined);
    await this.#inner.close();
  }

  #end(reason: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const reject of [...this.#pending.values()]) reject(reason ?? this.#lost());
    this.#receiver?.closed(reason);
  }

  #arrive(deliver: () => void): Promise<void> {
    const arrived = this.#inbound
      .then(() => this.#sleep())
      .then(() => {
        if (!this.#silent) deliver();
        for (const overtaken of this.#overtaken) overtaken();
      });
    this.#inbound = arrived;
    return arrived;
  }

  #waitToBeOvertaken(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#platform.timer(MAX_REORDER_WAIT_MS, () => overtaken());
      const overtaken = () => {
        timer.cancel();
        this.#overtaken.delete(overtaken);
        resolve();
      };
      this.#overtaken.add(overtaken);
    });
  }

  #sleep(): Promise<void> {
    const [least, most] = this.#options.delayMs ?? [0, 0];
    if (most <= 0) return Promise.resolve();
    const ms = least + this.#random() * (most - least);
    return new Promise((resolve) => this.#platform.timer(ms, resolve, true));
  }

  #happens(share = 0): boolean {
    return share > 0 && this.#random() < share;
  }

  #damaged(): McpError {
    return new McpError("decode_error", `chaosTransport damaged a message from ${this.target}`, {
      fix: "Handle it like a broken network: the fault is part of the test.",
    });
  }

  #lost(): McpError {
    return new McpError("connection_closed", `chaosTransport broke the connection to ${this.target}`, {
      fix: "Handle it like a broken network: the fault is part of the test.",
    });
  }
}

/** A small seeded random generator. Not suitable for security. */
function generator(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
