import type { MetricsSource } from "../http/http.js";
import { builtin } from "./builtin.js";

/** Those that have the gauges already: a process has one event loop. */
const WATCHED = new WeakSet<MetricsSource>();

/** How precisely the delay is measured, in milliseconds; a process that is idle wakes up as often. */
const RESOLUTION_MS = 20;

/**
 * Adds how late the event loop of this process runs to metrics, since they were read last: `mcp_event_loop_delay_p50_seconds`,
 * `…_p99_seconds` and `…_max_seconds`. `serveHttp` does it for its `metrics`.
 */
export function watchEventLoop(metrics: MetricsSource): void {
  if (WATCHED.has(metrics)) return;
  WATCHED.add(metrics);
  const delay = builtin("node:perf_hooks").monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  // What is measured contains the interval itself.
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000);
  const gauge = (name: string, what: string, read: () => number) =>
    metrics.gauge(`mcp_event_loop_delay_${name}_seconds`, `Delay of the event loop, ${what}.`, read);
  gauge("p50", "median", () => seconds(delay.percentile(50)));
  gauge("p99", "99th percentile", () => seconds(delay.percentile(99)));
  gauge("max", "greatest since it was read last", () => {
    const most = seconds(delay.max);
    delay.reset();
    return most;
  });
}
