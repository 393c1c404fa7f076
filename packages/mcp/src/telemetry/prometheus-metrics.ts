import { platform } from "#platform";
import type {
  ClientObserver,
  ConnectionChange,
  RequestEnded,
  RequestFollower,
  RequestStarted,
} from "../client/contract/observer.js";
import { isThenable } from "../encoding/maybe-promise.js";
import type { MetricsFormat, MetricsSource } from "../http/http.js";
import { callHook } from "../platform/call-hook.js";
import { McpError } from "../protocol/error.js";
import type { CallEnded, CallRefused, CallStarted, Observer, SenderRefused } from "../server/contract/observer.js";
import { internalsOf } from "../server/server.js";
import { type Storage, StorageError, StorageFailure } from "../storage/storage.js";
import {
  failedKind,
  isNamed,
  KnownNames,
  MAX_NAMES,
  MAX_REASONS,
  OTHER,
  refusedReason,
  targetExists,
} from "./attributes.js";

/** One value with its labels. */
interface Series {
  readonly labels: string;
  value: number;
  /** For a histogram: the number of values in each bucket, not cumulative. */
  readonly buckets: number[] | undefined;
  count: number;
}

/** The upper bounds of the duration buckets, in seconds. */
const BOUNDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/**
 * Maximum number of series of one metric, so that labels cannot exhaust the memory. Further combinations of labels are
 * not counted.
 */
const MAX_SERIES = 10_000;

/** One metric: a counter, a gauge or a histogram of durations, with one series for each combination of its labels. */
class MetricFamily {
  readonly name: string;
  readonly #help: string;
  readonly #type: "counter" | "gauge" | "histogram";
  readonly #labels: readonly string[];
  readonly #series = new Map<string, Series>();

  constructor(type: "counter" | "gauge" | "histogram", name: string, help: string, labels: readonly string[] = []) {
    this.name = name;
    this.#type = type;
    this.#help = help;
    this.#labels = labels;
    // A metric without labels appears from the start, with the value 0.
    if (labels.length === 0) this.#find([]);
  }

  /** Adds to a counter or a gauge. */
  add(values: readonly string[], by = 1): void {
    const series = this.#find(values);
    if (series !== undefined) series.value += by;
  }

  /** Adds a duration to a histogram. */
  observe(values: readonly string[], seconds: number): void {
    const series = this.#find(values);
    if (series?.buckets === undefined) return;
    series.value += seconds;
    series.count++;
    const at = BOUNDS.findIndex((bound) => seconds <= bound);
    if (at >= 0) series.buckets[at] = (series.buckets[at] ?? 0) + 1;
  }

  /** Returns the lines of this metric. */
  lines(format: MetricsFormat): string[] {
    const isBare = format === "openmetrics" && this.#type === "counter";
    const name = isBare ? this.name.replace(/_total$/, "") : this.name;
    const lines = [`# HELP ${name} ${escaped(this.#help)}`, `# TYPE ${name} ${this.#type}`];
    for (const series of this.#series.values()) {
      if (series.buckets === undefined) lines.push(line(this.name, series.labels, series.value));
      else lines.push(...histogramLines(this.name, series, series.buckets));
    }
    return lines;
  }

  #find(values: readonly string[]): Series | undefined {
    // No label value of the library contains NUL, so the key is unambiguous.
    const key = values.join("\u0000");
    const known = this.#series.get(key);
    if (known !== undefined || this.#series.size >= MAX_SERIES) return known;
    const labels = this.#labels.map((label, at) => `${label}="${escaped(values[at] ?? "", true)}"`).join(",");
    const buckets = this.#type === "histogram" ? BOUNDS.map(() => 0) : undefined;
    const series = { labels, value: 0, buckets, count: 0 };
    this.#series.set(key, series);
    return series;
  }
}

function histogramLines(name: string, { labels, value, count }: Series, buckets: readonly number[]): string[] {
  const lines: string[] = [];
  const before = labels === "" ? "" : `${labels},`;
  let sum = 0;
  for (const [at, bound] of BOUNDS.entries()) {
    sum += buckets[at] ?? 0;
    lines.push(line(`${name}_bucket`, `${before}le="${bound}"`, sum));
  }
  lines.push(line(`${name}_bucket`, `${before}le="+Inf"`, count));
  lines.push(line(`${name}_sum`, labels, value), line(`${name}_count`, labels, count));
  return lines;
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${value}`;
}

function escaped(text: string, isLabel = false): string {
  const plain = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return isLabel ? plain.replaceAll('"', '\\"') : plain;
}

/** Called for each failure, with the storage method and the reason. */
type OnFailure = (operation: string, reason: string) => void;

/** Returns a storage that behaves the same, and reports its failures. */
function watchedStorage(storage: Storage, failed: OnFailure): Storage {
  return {
    kv: watchedPart(storage.kv, "kv", failed),
    log: watchedPart(storage.log, "log", failed),
    pubsub: watchedPart(storage.pubsub, "pubsub", failed),
    ...(storage.close === undefined ? {} : { close: () => storage.close?.() }),
  };
}

function watchedPart<P extends object>(part: P, name: string, failed: OnFailure): P {
  const wrapped = new Map<PropertyKey, unknown>();
  return new Proxy(part, {
    get(target, key) {
      const known = wrapped.get(key);
      if (known !== undefined) return known;
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      const method = (...args: unknown[]) =>
        reportFailures(
          () => Reflect.apply(member, target, args),
          (error) => failed(`${name}.${String(key)}`, reasonOf(error)),
        );
      wrapped.set(key, method);
      return method;
    },
  });
}

/** Runs a method, reports a failure, and passes on the result or error of the method. */
function reportFailures(run: () => unknown, failed: (error: unknown) => void): unknown {
  try {
    const result = run();
    if (!isThenable(result)) return result;
    return Promise.resolve(result).catch((error) => {
      failed(error);
      throw error;
    });
  } catch (error) {
    failed(error);
    throw error;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof StorageFailure) return error.reason;
  return error instanceof StorageError ? "full" : "other";
}

/**
 * Metrics of servers and clients, as text for Prometheus. Pass the object to `server.observe`, to `connect` or `Host`
 * as `observe`, and to `serveHttp` as `metrics`. Labels are methods, names of existing tools and prompts, outcomes,
 * kinds of errors, reasons for refusals, and methods and failure reasons of the storage.
 */
export interface Metrics extends MetricsSource, Observer, ClientObserver {
  /** Wraps a storage to count its failures: `new Server(info, { storage: metrics.storage(storage) })`. */
  storage(storage: Storage): Storage;
}

/**
 * Creates metrics in the text format of Prometheus. Requires no other package.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/observing.md | Observing}
 */
export function prometheusMetrics(): Metrics {
  return new PrometheusMetrics();
}

interface Gauge {
  readonly help: string;
  readonly readers: Set<() => number>;
}

class PrometheusMetrics implements Metrics {
  readonly #names = new KnownNames(MAX_NAMES);
  readonly #reasons = new KnownNames(MAX_REASONS);
  readonly #families: MetricFamily[] = [];
  readonly #gauges = new Map<string, Gauge>();
  readonly #calls = this.#counter("mcp_server_calls_total", "Calls that ended.", "method", "name", "outcome");
  readonly #errors = this.#counter("mcp_server_errors_total", "Calls that failed, by kind.", "method", "name", "kind");
  readonly #durations = this.#histogram("mcp_server_call_duration_seconds", "Duration of calls.");
  readonly #refused = this.#counter("mcp_server_refused_total", "Requests refused before they became calls.", "kind");
  readonly #senders = this.#counter(
    "mcp_server_senders_refused_total",
    "Requests and connections whose sender was refused, by reason.",
    "reason",
  );
  readonly #running = this.#family("gauge", "mcp_server_calls_running", "Calls that have not ended.");
  readonly #sessions = this.#family("gauge", "mcp_server_sessions", "Sessions and connections that are open.");
  readonly #opened = this.#counter("mcp_server_sessions_opened_total", "Sessions and connections that were opened.");
  readonly #sent = this.#counter("mcp_client_requests_total", "Requests that ended.", "method", "name", "outcome");
  readonly #failed = this.#counter(
    "mcp_client_errors_total",
    "Requests that failed, by kind.",
    "method",
    "name",
    "kind",
  );
  readonly #waits = this.#histogram("mcp_client_request_duration_seconds", "Duration of requests.");
  readonly #resent = this.#counter("mcp_client_resent_total", "Requests that were sent again after a lost connection.");
  readonly #ready = this.#family("gauge", "mcp_client_connections", "Connections that are ready.");
  readonly #lost = this.#counter("mcp_client_connections_lost_total", "Connections that were lost.");
  readonly #storage = this.#counter("mcp_storage_failures_total", "Failures of the storage.", "operation", "reason");

  readonly attached = (server: object): void => {
    const { source, layers } = internalsOf(server);
    const { toolCalls } = source.local;
    const help = "Calls that wait for a free slot.";
    const close = this.gauge("mcp_server_calls_waiting", help, () => toolCalls.waiting);
    layers.add({ name: "metrics", stage: "served", close });
  };

  readonly started = (_call: CallStarted): void => this.#running.add([]);

  readonly ended = (call: CallEnded): void => {
    const { method, name, outcome, durationMs } = call;
    this.#running.add([], -1);
    const label = this.#label(method, name, targetExists(call));
    this.#calls.add([method, label, outcome]);
    this.#durations.observe([method, label], durationMs / 1000);
    if (outcome === "tool_error" || outcome === "error") this.#errors.add([method, label, failedKind(call)]);
  };

  readonly refused = ({ error }: CallRefused): void => this.#refused.add([McpError.from(error).kind]);

  readonly senderRefused = (sender: SenderRefused): void => this.#senders.add([refusedReason(sender, this.#reasons)]);

  readonly sessionOpened = (): void => {
    this.#sessions.add([]);
    this.#opened.add([]);
  };

  readonly sessionClosed = (): void => this.#sessions.add([], -1);

  readonly request = ({ attempt }: RequestStarted): RequestFollower => {
    if (attempt > 1) this.#resent.add([]);
    return this.#requests;
  };

  readonly #requests: RequestFollower = {
    ended: ({ method, name, outcome, durationMs, error }: RequestEnded) => {
      const label = this.#label(method, name, outcome === "ok" || outcome === "input_required");
      this.#sent.add([method, label, outcome]);
      this.#waits.observe([method, label], durationMs / 1000);
      if (outcome === "tool_error") this.#failed.add([method, label, "tool_error"]);
      if (outcome !== "error") return;
      this.#failed.add([method, label, McpError.from(error).kind]);
    },
  };

  readonly state = ({ state, sessionMs }: ConnectionChange): void => {
    if (sessionMs !== undefined) this.#ready.add([], -1);
    if (state === "ready") this.#ready.add([]);
    else if (sessionMs !== undefined && state !== "closed") this.#lost.add([]);
  };

  storage(storage: Storage): Storage {
    return watchedStorage(storage, (operation, reason) => this.#storage.add([operation, reason]));
  }

  gauge(name: string, help: string, read: () => number): () => void {
    const isTaken = this.#families.some((family) => family.name === name);
    if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name) || isTaken) {
      throw new McpError("invalid_definition", `"${name}" cannot be the name of a gauge`, {
        fix: "Use letters, digits and underscores, and a name that is not in use.",
      });
    }
    const gauge = this.#gauges.get(name) ?? { help, readers: new Set() };
    this.#gauges.set(name, gauge);
    const reader = () => read();
    gauge.readers.add(reader);
    return () => void gauge.readers.delete(reader);
  }

  text(format: MetricsFormat = "prometheus"): string {
    const lines = this.#families.flatMap((family) => family.lines(format));
    for (const [name, gauge] of this.#gauges) {
      const family = new MetricFamily("gauge", name, gauge.help);
      for (const read of gauge.readers) family.add([], readGauge(name, read));
      lines.push(...family.lines(format));
    }
    if (format === "openmetrics") lines.push("# EOF");
    return `${lines.join("\n")}\n`;
  }

  /**
   * Returns the label for the name in a call. Empty if the method has no name, and `_OTHER` for a name that the caller
   * may have invented.
   */
  #label(method: string, name: string | undefined, exists: boolean): string {
    if (name === undefined || !isNamed(method)) return "";
    const isKnown = exists ? this.#names.learn(name) : this.#names.has(name);
    return isKnown ? name : OTHER;
  }

  #counter(name: string, help: string, ...labels: string[]): MetricFamily {
    return this.#family("counter", name, help, labels);
  }

  #histogram(name: string, help: string): MetricFamily {
    return this.#family("histogram", name, help, ["method", "name"]);
  }

  #family(type: "counter" | "gauge" | "histogram", name: string, help: string, labels: string[] = []): MetricFamily {
    const family = new MetricFamily(type, name, help, labels);
    this.#families.push(family);
    return family;
  }
}

/** Reads a gauge. Returns 0 if the function throws or returns a value that is not finite. */
function readGauge(name: string, read: () => number): number {
  let value = 0;
  callHook(platform, `the gauge ${name}`, () => {
    value = read();
    return value;
  });
  return Number.isFinite(value) ? value : 0;
}
