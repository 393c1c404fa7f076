import type { ProgressNotificationParams } from "../../protocol/lifecycle.js";
import { BoundedQueue } from "../changes/bounded-queue.js";
import type { CallOptions } from "../contract/options.js";

/** Progress reports that wait for their reader; beyond it the oldest are given up. */
const MAX_WAITING = 1000;

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
  const reports = new BoundedQueue<ProgressNotificationParams>(MAX_WAITING);
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
