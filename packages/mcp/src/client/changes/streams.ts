import type { NotificationMessage } from "../../jsonrpc/message.js";
import type { ProgressNotificationParams } from "../../protocol/lifecycle.js";
import type { ClientConnection } from "../connection/connection.js";
import type { CallOptions } from "../contract/options.js";
import type { NotificationRouter } from "./notifications.js";

/** A value waiting for its reader, with the number of values dropped before it because the reader was slow. */
interface QueuedValue<T> {
  value: T;
  dropped: number;
}

/** Maximum number of unread values. Beyond that, the oldest are dropped. */
const MAX_WAITING = 1000;

/** Values for one reader, in order. Drops and counts the oldest when too many wait. */
class BoundedQueue<T> {
  readonly #waiting: QueuedValue<T>[] = [];
  readonly #readers: ((result: QueuedValue<T> | undefined) => void)[] = [];
  #ended = false;

  push(value: T): void {
    if (this.#ended) return;
    const queued = { value, dropped: 0 };
    const reader = this.#readers.shift();
    if (reader !== undefined) return reader(queued);
    this.#waiting.push(queued);
    if (this.#waiting.length <= MAX_WAITING) return;
    const gone = this.#waiting.shift();
    const oldest = this.#waiting[0];
    if (gone !== undefined && oldest !== undefined) oldest.dropped += gone.dropped + 1;
  }

  /** Ends the queue. Waiting values can still be read. */
  end(): void {
    this.#ended = true;
    for (const reader of this.#readers.splice(0)) reader(undefined);
  }

  /** Returns the next value, or undefined after the last one. */
  next(): Promise<QueuedValue<T> | undefined> {
    const first = this.#waiting.shift();
    if (first !== undefined || this.#ended) return Promise.resolve(first);
    return new Promise((resolve) => this.#readers.push(resolve));
  }
}

/** A notification, as `client.notifications()` yields it. */
export interface ReceivedNotification extends Pick<NotificationMessage, "method" | "params"> {
  /** The number of notifications dropped before this one because more than 1000 were unread. */
  missed: number;
}

/**
 * Iterates over all notifications from now on, in order of arrival, until the reader leaves or the connection ends.
 */
export function streamNotifications(
  router: NotificationRouter,
  connection: ClientConnection,
): AsyncIterableIterator<ReceivedNotification> {
  const queue = new BoundedQueue<NotificationMessage>();
  const isOver = () => connection.state === "closed" || (connection.state === "disconnected" && !connection.canReopen);
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
      return { value: { method, ...(params === undefined ? {} : { params }), missed: queued.dropped }, done: false };
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

/** An event of a streamed call: a progress report, or at the end its result. */
export type CallEvent<V = unknown> =
  | {
      /** A progress report of the server. */
      type: "progress";
      /** The progress so far. */
      progress: number;
      /** The progress at the end, if the server knows it. */
      total?: number;
      /** A message for the user. */
      message?: string;
    }
  | {
      /** The end of the call. */
      type: "result";
      /** The value of the tool, as `client.call` returns it. */
      value: V;
    };

/**
 * Yields the progress reports of a call, then its result. Starts the call with the first iteration. Throws the error of
 * a failed call. Leaving the loop cancels a running call.
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
