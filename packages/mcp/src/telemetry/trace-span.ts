import { printableLine } from "../encoding/printable.js";
import type { CallLayer } from "../server/contract/observer.js";

/**
 * A layer of a trace.
 *
 * On the client, `call` contains one `request` for each message that was sent for the call. It contains `answers` for
 * the time in which questions are answered between two requests. The `era` encodes a request, and the `transport` sends
 * it. On a server, `call` contains the layers that `CallFollower.layer` reports. `progress` has no duration. In revisions
 * where servers ask by request, `question` is the span on the server that asks, and `answer` the span on the client.
 */
export type TraceLayer =
  | CallLayer
  | "call"
  | "request"
  | "era"
  | "transport"
  | "answers"
  | "progress"
  | "question"
  | "answer";

/** A part of a call, with its nested parts in the order in which they started. */
export interface TraceSpan {
  /** The side that the span was recorded on. */
  readonly side: "client" | "server";
  /** The layer of the client or server. */
  readonly layer: TraceLayer;
  /** The subject, such as a method and a name, a request id, a revision, a transport, or progress. */
  readonly detail: string;
  /** Start time, in milliseconds since the start of the trace. */
  readonly startMs: number;
  /** Duration in milliseconds. Undefined if the span had not ended when the trace was passed on. */
  readonly durationMs: number | undefined;
  /** The outcome, if known, such as `ok`, `tool_error`, `input_required`, or the kind of an error. */
  readonly outcome: string | undefined;
  /** The nested spans, in the order in which they started. */
  readonly spans: readonly TraceSpan[];
}

/**
 * Maximum number of spans in one trace. Later spans are dropped, so that a trace with endless progress stays small.
 */
const MAX_SPANS = 1_000;
const MAX_DETAIL_LENGTH = 200;

/** A span that is still being recorded. */
export class OpenSpan {
  readonly #root: OpenSpan;
  readonly #side: TraceSpan["side"];
  readonly #layer: TraceLayer;
  readonly #detail: string;
  readonly #began: number;
  readonly #inner: OpenSpan[] = [];
  #ended: number | undefined;
  #outcome: string | undefined;
  /** Number of spans in the trace, counted by the root span. */
  #count = 1;

  constructor(side: TraceSpan["side"], layer: TraceLayer, detail: string, now: number, root?: OpenSpan) {
    this.#root = root ?? this;
    this.#side = side;
    this.#layer = layer;
    this.#detail = detail.slice(0, MAX_DETAIL_LENGTH);
    this.#began = now;
  }

  get isOpen(): boolean {
    return this.#ended === undefined;
  }

  /** Starts a span within this one. */
  begin(side: TraceSpan["side"], layer: TraceLayer, detail: string, now: number): OpenSpan {
    const inner = new OpenSpan(side, layer, detail, now, this.#root);
    if (this.#root.#count++ < MAX_SPANS) this.#inner.push(inner);
    return inner;
  }

  end(now: number, outcome?: string): void {
    this.#ended ??= now;
    this.#outcome ??= outcome;
  }

  /** Returns the span in its current state. */
  read(): TraceSpan {
    const durationMs = this.#ended === undefined ? undefined : this.#ended - this.#began;
    const startMs = this.#began - this.#root.#began;
    const spans = this.#inner.map((one) => one.read());
    return {
      side: this.#side,
      layer: this.#layer,
      detail: this.#detail,
      startMs,
      durationMs,
      outcome: this.#outcome,
      spans,
    };
  }
}

/**
 * Formats a trace as lines: the start, duration and name of each layer, indented by depth. A span that has not ended
 * has `…` in place of its duration. Control characters in names are escaped.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/observing.md | Observing}
 */
export function formatTrace(trace: TraceSpan): string {
  const rows = rowsOf(trace, 0);
  const [starts, lengths] = [
    Math.max(...rows.map(([start]) => start.length)),
    Math.max(...rows.map(([, ms]) => ms.length)),
  ];
  return rows.map(([start, ms, text]) => `${start.padStart(starts)}  ${ms.padStart(lengths)}  ${text}`).join("\n");
}

type Row = readonly [start: string, length: string, text: string];

function rowsOf({ side, layer, detail, startMs, durationMs, outcome, spans }: TraceSpan, depth: number): Row[] {
  const length = layer === "progress" ? "" : durationMs === undefined ? "…" : `${durationMs.toFixed(2)} ms`;
  const words = [side, layer, ...(detail === "" ? [] : [printableLine(detail)])].join(" ");
  const text = `${"  ".repeat(depth)}${words}${outcome === undefined ? "" : `: ${outcome}`}`;
  return [[`+${startMs.toFixed(2)} ms`, length, text], ...spans.flatMap((span) => rowsOf(span, depth + 1))];
}
