import { McpError, type Revision } from "@parley/mcp/protocol";
import type { WireMessage } from "@parley/mcp/transport";
import type { EntryDetail, EntrySummary, HttpExchange } from "../contract/timeline.js";
import { type MessageVerdict, messageProblems } from "../validation/message-problems.js";
import { boundedJson } from "./bounded-json.js";
import { DEFAULT_TIMELINE_LIMITS, EntryRing, type StoredEntry, type TimelineLimits } from "./entry-ring.js";
import { type AnyMessage, factsOf, refusedProbeNote } from "./message-facts.js";
import { type OpenRequest, type PassedMessage, WireConnection } from "./wire-connection.js";

/** Characters of a message that `detail` writes. */
export const MOST_DETAIL = 1_000_000;
/** Characters of an event, such as a line of stderr. */
const MOST_EVENT = 4_000;

/** A message to be noted. */
interface NotedMessage {
  readonly connection: string;
  readonly wire: WireMessage;
  /** The revision of the connection, where the message and its handshake do not tell. */
  readonly revision?: Revision | undefined;
  /** The call in whose course it was sent. */
  readonly call?: string | undefined;
  /** The call that it belongs to where nothing else tells. */
  readonly otherwise?: (() => string | undefined) | undefined;
  readonly http?: HttpExchange | undefined;
  /** The only revision that the client may speak, so that it has none to fall back to. */
  readonly wanted?: Revision | undefined;
  /** When it passed, for a message of a recording. Default: now. */
  readonly ms?: number | undefined;
}

/** An exchange that is no message, to be noted. */
interface NotedExchange extends Pick<EntrySummary, "connection" | "label" | "failed" | "note"> {
  readonly exchange: HttpExchange;
}

/**
 * Everything that happened, in order: messages with their pairs, exchanges that are no messages, events. It keeps the newest entries
 * within its limits, and each takes the same time to add.
 */
export class Timeline {
  readonly #ring: EntryRing;
  readonly #began = performance.now();
  readonly #wires = new WeakMap<object, WireConnection>();
  /** How many wires each connection of the inspector had. */
  readonly #wireCounts = new Map<string, number>();
  readonly #listeners = new Set<(entry: StoredEntry) => void>();

  constructor(limits: Partial<TimelineLimits> = {}) {
    this.#ring = new EntryRing({ ...DEFAULT_TIMELINE_LIMITS, ...limits });
  }

  /** Milliseconds since the inspector began, with fractions. */
  now(): number {
    return performance.now() - this.#began;
  }

  /** Notes a message: finds its pair, measures it, and holds it to the schema. Returns its number. */
  addMessage(noted: NotedMessage): number {
    const { connection, wire, http } = noted;
    const at = this.#wireOf(connection, wire.connection);
    const { direction, message } = wire;
    const passed: PassedMessage = { direction, message, facts: factsOf(message), about: wire.about };
    const { facts } = passed;
    const answers = at.answered(passed);
    const revision = at.revisionOf(passed, answers) ?? noted.revision;
    const ms = noted.ms ?? this.now();
    const method = facts.method ?? answers?.method;
    const about = facts.about ?? answers?.about;
    const call = callOf(noted, at, passed, answers);
    const bytes = sizeOf(message);
    const isKept = bytes !== undefined && bytes <= this.#ring.limits.bytes;
    const isAnswered = answers?.isProbe === true && facts.kind === "error";
    const note = isAnswered ? refusedProbeNote(http?.status, message) : undefined;
    const summary: EntrySummary = {
      seq: this.#ring.next,
      connection,
      ms,
      direction,
      kind: facts.kind,
      label: method ?? facts.kind,
      ...(about === undefined ? {} : { about }),
      bytes: bytes ?? 0,
      ...(answers === undefined ? {} : { answers: answers.seq, latencyMs: ms - answers.ms }),
      ...(call === undefined ? {} : { call }),
      // Of what is not kept, nobody could see where it is wrong.
      problems: isKept ? (verdictOf(passed, revision, answers?.method)?.problems.length ?? 0) : 0,
      failed: facts.failed && note === undefined,
      ...(note === undefined ? {} : { note }),
    };
    const isProbe = noted.wanted === undefined && at.isProbe(passed);
    if (facts.kind === "request") {
      at.noteRequest(passed, { seq: summary.seq, ms, method: summary.label, about, call, revision, isProbe });
    } else if (answers !== undefined && call !== undefined) at.noteTask(message, call);
    return this.#add(
      {
        summary,
        ...(isKept ? { message } : {}),
        ...(wire.about === undefined ? {} : { about: wire.about }),
        ...(http === undefined ? {} : { http }),
        connectionNumber: at.number,
        revision,
        isProbe,
      },
      (isKept ? bytes : 0) + exchangeSize(http),
    );
  }

  /** Notes an exchange that is no message, such as one of a login. Returns its number. */
  addHttp(noted: NotedExchange): number {
    const { connection, label, exchange, failed, note } = noted;
    const bytes = (exchange.responseBody ?? "").length;
    const more = { direction: "sent", bytes, ...(note === undefined ? {} : { note }) } as const;
    const summary = { ...this.#plain(connection, "http", label, failed), ...more };
    return this.#add({ summary, http: exchange, connectionNumber: 0 }, exchangeSize(exchange));
  }

  /** Notes what happened to a connection itself: its states, warnings, lines of stderr. Returns its number. */
  addEvent(noted: { connection: string; text: string; failed?: boolean }): number {
    const { connection, text, failed = false } = noted;
    const label = text.length > MOST_EVENT ? `${text.slice(0, MOST_EVENT)}…` : text;
    const summary = { ...this.#plain(connection, "event", label, failed), bytes: label.length };
    return this.#add({ summary, connectionNumber: 0 }, label.length);
  }

  /** Adds the exchange by which a message travelled, or what more is known of one. Does nothing for entries that are forgotten. */
  attachHttp(seq: number, exchange: HttpExchange): void {
    const entry = this.#ring.get(seq);
    if (entry === undefined) return;
    this.#ring.replace({ ...entry, http: exchange }, exchangeSize(exchange) - exchangeSize(entry.http));
  }

  /** Whether an entry is a probe of the client whose refusal means no failure. */
  isProbe(seq: number): boolean {
    return this.#ring.get(seq)?.isProbe === true;
  }

  /** Entries in short from a number on, in order, at most `limit`. */
  summaries(from: number, limit: number): EntrySummary[] {
    const found: EntrySummary[] = [];
    if (limit <= 0) return found;
    for (const { summary } of this.#ring.from(from)) {
      if (found.push(summary) >= limit) break;
    }
    return found;
  }

  /** One entry as a whole. Throws `invalid_params` where it is not there. */
  detail(seq: number): EntryDetail {
    const entry = this.entry(seq);
    const { summary, message, revision, http } = entry;
    const shared = { summary, ...(http === undefined ? {} : { http }) };
    if (summary.kind === "http" || summary.kind === "event") {
      const text = summary.kind === "event" ? summary.label : "";
      return { ...shared, text, cut: false, problems: [] };
    }
    const known = { ...shared, ...(revision === undefined ? {} : { revision }) };
    if (message === undefined) {
      const unchecked = "the message is larger than the timeline may be, and was not kept";
      return { ...known, text: "", cut: true, unchecked, problems: [] };
    }
    const { direction = "sent", label } = summary;
    const passed: PassedMessage = { direction, message, facts: factsOf(message), about: entry.about };
    const verdict = verdictOf(passed, revision, passed.facts.method === undefined ? label : undefined);
    return {
      ...known,
      ...boundedJson(message, MOST_DETAIL),
      ...(verdict === undefined ? { unchecked: "no revision was agreed on yet", problems: [] } : shownVerdict(verdict)),
    };
  }

  /** One entry as it is kept. Throws `invalid_params` where it is not there. */
  entry(seq: number): StoredEntry {
    const entry = this.#ring.get(seq);
    if (entry !== undefined) return entry;
    const { first, next } = this.#ring;
    throw new McpError("invalid_params", `the timeline has no entry ${seq}: it keeps ${first} to ${next - 1}`, {
      fix: "Choose a newer entry; older ones are forgotten when the timeline is full or cleared.",
    });
  }

  /** The kept entries of one connection, in order. */
  stored(connection: string): readonly StoredEntry[] {
    return [...this.#ring.from(0)].filter(({ summary }) => summary.connection === connection);
  }

  /** Calls back with every entry that is added; returns what ends it. */
  onAdded(listener: (entry: StoredEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  range(): { first: number; next: number; bytes: number } {
    const { first, next, bytes } = this.#ring;
    return { first, next, bytes };
  }

  /** Forgets the entries; numbers go on. */
  clear(): void {
    this.#ring.clear();
  }

  #plain(connection: string, kind: "http" | "event", label: string, failed: boolean) {
    return { seq: this.#ring.next, connection, ms: this.now(), kind, label, problems: 0, failed };
  }

  #add(entry: StoredEntry, bytes: number): number {
    this.#ring.add(entry, bytes);
    for (const listener of this.#listeners) listener(entry);
    return entry.summary.seq;
  }

  #wireOf(connection: string, wire: object): WireConnection {
    const known = this.#wires.get(wire);
    if (known !== undefined) return known;
    const number = (this.#wireCounts.get(connection) ?? 0) + 1;
    this.#wireCounts.set(connection, number);
    const made = new WireConnection(number);
    this.#wires.set(wire, made);
    return made;
  }
}

/** An answer belongs to the call of its request, whoever sends it. */
function callOf(
  noted: NotedMessage,
  at: WireConnection,
  passed: PassedMessage,
  answers: OpenRequest | undefined,
): string | undefined {
  if (answers !== undefined) return answers.call;
  return at.callOf(passed) ?? noted.call ?? noted.otherwise?.();
}

function verdictOf(
  { direction, message }: PassedMessage,
  revision: Revision | undefined,
  answers: string | undefined,
): MessageVerdict | undefined {
  if (revision === undefined) return undefined;
  const sender = direction === "sent" ? "client" : "server";
  return messageProblems({ revision, sender, message, ...(answers === undefined ? {} : { answers }) });
}

function shownVerdict({ definition, problems, isPartial }: MessageVerdict) {
  const unchecked = isPartial === true ? { unchecked: "it is too large to be examined as a whole" } : {};
  return { definition, ...unchecked, problems };
}

/** Characters of the JSON text; undefined where it is nested too deeply to be written. */
function sizeOf(message: AnyMessage): number | undefined {
  try {
    return JSON.stringify(message).length;
  } catch {
    return undefined;
  }
}

function exchangeSize(exchange: HttpExchange | undefined): number {
  return exchange === undefined ? 0 : JSON.stringify(exchange).length;
}
