import type { NotificationMessage } from "../../jsonrpc/message.js";
import type { ProgressNotificationParams } from "../../protocol/lifecycle.js";
import type { ClientConnection } from "../connection/connection.js";
import type { CallOptions } from "../contract/options.js";
import type { NotificationRouter } from "./notifications.js";

/** A value on its way to its reader, and how many before it were dropped because the reader was slow. */
interface Queued<T> {
  value: T;
  missed: number;
}

/** Values that wait for their reader; beyond it the oldest are dropped. */
const MAX_WAITING = 1000;

/** Values on their way to one reader, in order. When too many wait the oldest are dropped, and counted. */
class BoundedQueue<T> {
  readonly #waiting: Queued<T>[] = [];
  readonly #readers: ((result: Queued<T> | undefined) => void)[] = [];
  #ended = false;

  push(value: T): void {
    if (this.#ended) return;
    const queued = { value, missed: 0 };
    const reader = this.#readers.shift();
    if (reader !== undefined) return reader(queued);
    this.#waiting.push(queued);
    if (this.#waiting.length <= MAX_WAITING) return;
    const gone = this.#waiting.shift();
    const oldest = this.#waiting[0];
    if (gone !== undefined && oldest !== undefined) oldest.missed += gone.missed + 1;
  }

  /** Nothing comes any more; what waits can still be read. */
  end(): void {
    this.#ended = true;
    for (const reader of this.#readers.splice(0)) reader(undefined);
  }

  /** The next value; undefined after the last one. */
  next(): Promise<Queued<T> | undefined> {
    const first = this.#waiting.shift();
    if (first !== undefined || this.#ended) return Promise.resolve(first);
    return new Promise((resolve) => this.#readers.push(resolve));
  }
}

/** A notification as a reader of all of them gets it. */
export interface ReceivedNotification extends Pick<NotificationMessage, "method" | "params"> {
  /** How many before this one were given up because more than 1,000 waited. */
  missed: number;
}

/** All notifications from now on, in the order of their arrival, until the reader leaves or the connection is over. */
export function streamNotifications(
  router: NotificationRouter,
  connection: ClientConnection,
): AsyncIterableIterator<ReceivedNotification, undefined> {
  const queue = new BoundedQueue<NotificationMessage>();
  const isOver = () => connection.state === "closed" || (connection.state === "disconnected" && !connection.mayReturn);
  const off = [
    router.on("notification", (message: NotificationMessage) => queue.push(message)),
    router.on("state", () => isOver() && leave()),
  ];
  const leave = () => {
    for (const unlisten of off) unlisten();
    queue.end();
  };
  if (isOver()) leave();
  return {
    async next() {
      const queued = await queue.next();
      if (queued === undefined) return { value: undefined, done: true };
      const { method, params } = queued.value;
      return { value: { method, ...(params === undefined ? {} : { params }), missed: queued.missed }, done: false };
    },
    async return() {
      leave();
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** What a stream of one call gives: its progress, and at last its result. */
export type CallEvent<V = unknown> =
  | { type: "progress"; progress: number; total?: number; message?: string }
  | { type: "result"; value: V };

/**
 * Makes a call when the first event is asked for. Throws what the call fails with; leaving the loop cancels a call that is
 * under way.
 */
export async function* streamCall<V>(
  start: (options: CallOptions) => Promise<V>,
  options: CallOptions = {},
): AsyncGenerator<CallEvent<V>, void, undefined> {
  const left = new AbortController();
  const reports = new BoundedQueue<ProgressNotificationParams>();
  const result = start({
    ...options,
    signal: options.signal == null ? left.signal : AbortSignal.any([options.signal, left.signal]),
    onProgress(report) {
      reports.push(report);
      return options.onProgress?.(report);
    },
  });
  const end = () => reports.end();
  result.then(end, end);
  try {
    for (;;) {
      const queued = await reports.next();
      if (queued === undefined) break;
      const { progress, total, message } = queued.value;
      const more = { ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) };
      yield { type: "progress", progress, ...more };
    }
    yield { type: "result", value: await result };
  } finally {
    left.abort();
  }
}
