import { printableLine } from "../encoding/printable.js";
import type { CallLayer } from "../server/contract/observer.js";

/**
 * A layer of a trace. On the client `call` holds one `request` for each message that stands for the call, and `answers` where
 * questions are answered between two of them; a request is written by the `era` and carried by the `transport`. On a server `call`
 * holds the layers that `CallFollower.layer` reports. `progress` has no length. `question` is asked by a server, `answer` given by a
 * client, in revisions that ask by request.
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

/** A part of a call, with the parts within it in the order in which they began. */
export interface TraceSpan {
  readonly side: "client" | "server";
  readonly layer: TraceLayer;
  /** The subject: a method and a name, a revision, a transport, progress. */
  readonly detail: string;
  /** When it began, in milliseconds since the trace did. */
  readonly startMs: number;
  /** Undefined if it had not ended when the trace did. */
  readonly durationMs: number | undefined;
  /** How it ended, where that is known: `ok`, `tool_error`, `input_required`, or the kind of an error. */
  readonly outcome: string | undefined;
  readonly spans: readonly TraceSpan[];
}

/** Spans of one trace; later ones are left out, so that a call that reports progress without end stays small. */
const MAX_SPANS = 1_000;
const MAX_DETAIL_LENGTH = 200;

/** A span that is still being written. */
export class OpenSpan {
  readonly #root: OpenSpan;
  readonly #side: TraceSpan["side"];
  readonly #layer: TraceLayer;
  readonly #detail: string;
  readonly #began: number;
  readonly #inner: OpenSpan[] = [];
  #ended: number | undefined;
  #outcome: string | undefined;
  /** How many spans the trace has; counted by its root. */
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

  /** Begins a span within this one. */
  begin(side: TraceSpan["side"], layer: TraceLayer, detail: string, now: number): OpenSpan {
    const inner = new OpenSpan(side, layer, detail, now, this.#root);
    if (this.#root.#count++ < MAX_SPANS) this.#inner.push(inner);
    return inner;
  }

  end(now: number, outcome?: string): void {
    this.#ended ??= now;
    this.#outcome ??= outcome;
  }

  /** The span as it is now. */
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
 * Writes a trace as lines: when each layer began, how long it took, and its name, indented by depth. What had not ended has `…` in
 * place of a length. Control characters of names are spelled out.
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
