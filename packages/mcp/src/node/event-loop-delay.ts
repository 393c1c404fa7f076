import type { MetricsSource } from "../http/http.js";
import { builtin } from "./builtin.js";

/** Metrics that already have the gauges. A process has one event loop, so each metrics object gets them only once. */
const WATCHED = new WeakSet<MetricsSource>();

/** Resolution of the measurement, in milliseconds. An idle process wakes up at this interval. */
const RESOLUTION_MS = 20;

/**
 * Adds gauges for the event loop delay of this process to metrics: `mcp_event_loop_delay_p50_seconds`, `…_p99_seconds`
 * and `…_max_seconds`. The gauges cover the time since the last reading. `serveHttp` adds them to its `metrics`.
 *
 * @example
 * ```ts
 * import { watchEventLoop } from "@parley/mcp/node";
 * import { prometheusMetrics } from "@parley/mcp/telemetry";
 *
 * const metrics = prometheusMetrics();
 * watchEventLoop(metrics);
 * ```
 */
export function watchEventLoop(metrics: MetricsSource): void {
  if (WATCHED.has(metrics)) return;
  WATCHED.add(metrics);
  const delay = builtin("node:perf_hooks").monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  // The measured value includes the interval itself.
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000);
  const gauge = (name: string, what: string, read: () => number) =>
    metrics.gauge(`mcp_event_loop_delay_${name}_seconds`, `Delay of the event loop, ${what}.`, read);
  gauge("p50", "median", () => seconds(delay.percentile(50)));
  gauge("p99", "99th percentile", () => seconds(delay.percentile(99)));
  gauge("max", "maximum since the last reading", () => {
    const max = seconds(delay.max);
    delay.reset();
    return max;
  });
}
