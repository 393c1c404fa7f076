import { McpError, type Revision } from "@parley/mcp/protocol";
import type { WireMessage } from "@parley/mcp/transport";
import type { EntryDetail, EntrySummary, HttpExchange } from "../contract/timeline.js";
import { type MessageVerdict, messageProblems } from "../validation/message-problems.js";
import { boundedJson } from "./bounded-json.js";
import { DEFAULT_TIMELINE_LIMITS, EntryRing, type StoredEntry, type TimelineLimits } from "./entry-ring.js";
import { type AnyMessage, messageInfo, refusedProbeNote } from "./message-info.js";
import { type ObservedMessage, type OpenRequest, WireConnection } from "./wire-connection.js";

/** Maximum length of a message in `detail`, in characters. Longer messages are truncated. */
export const MAX_DETAIL_LENGTH = 1_000_000;
/** Maximum length of an event, such as a line of stderr, in characters. Longer events are truncated. */
const MAX_EVENT_LENGTH = 4_000;

/** A message to add. */
interface NewMessage {
  readonly connection: string;
  readonly wire: WireMessage;
  /**
   * The revision of the connection. Used if neither this message, nor its request, nor an earlier message on the same
   * connection to the server names one.
   */
  readonly revision?: Revision | undefined;
  /** The call that sent the message. */
  readonly call?: string | undefined;
  /** Returns the call to assign to the message if nothing else identifies its call. */
  readonly fallbackCall?: (() => string | undefined) | undefined;
  readonly http?: HttpExchange | undefined;
  /** The only revision that the client may use. Absent if the client can fall back to another revision. */
  readonly wanted?: Revision | undefined;
  /** The time of a recorded message. Default: now. */
  readonly ms?: number | undefined;
}

/** An HTTP exchange to add as an entry of its own. */
interface NewExchange extends Pick<EntrySummary, "connection" | "label" | "failed" | "note"> {
  readonly exchange: HttpExchange;
}

/**
 * The messages, HTTP exchanges and events of all connections, in order. Pairs answers with their requests. Evicts the
 * oldest entries beyond its limits. The time to add an entry does not depend on the number of entries.
 */
export class Timeline {
  readonly #ring: EntryRing;
  readonly #began = performance.now();
  readonly #wires = new WeakMap<object, WireConnection>();
  /** Number of transport connections opened so far, by the id of the inspector connection. */
  readonly #wireCounts = new Map<string, number>();
  readonly #listeners = new Set<(entry: StoredEntry) => void>();

  constructor(limits: Partial<TimelineLimits> = {}) {
    this.#ring = new EntryRing({ ...DEFAULT_TIMELINE_LIMITS, ...limits });
  }

  /** Milliseconds since the inspector started, with fractions. */
  now(): number {
    return performance.now() - this.#began;
  }

  /**
   * Adds a message: finds the request that it answers, measures the message, and validates it against the schema.
   * Returns the number of the entry.
   */
  addMessage(added: NewMessage): number {
    const { connection, wire, http } = added;
    const at = this.#wireOf(connection, wire.connection);
    const { direction, message } = wire;
    const observed: ObservedMessage = { direction, message, info: messageInfo(message), about: wire.about };
    const { info } = observed;
    const answers = at.closeRequest(observed);
    const revision = at.revisionOf(observed, answers) ?? added.revision;
    const ms = added.ms ?? this.now();
    const method = info.method ?? answers?.method;
    const about = info.about ?? answers?.about;
    const call = callOf(added, at, observed, answers);
    const bytes = sizeOf(message);
    const isStored = bytes !== undefined && bytes <= this.#ring.limits.bytes;
    const isProbeRefused = answers?.isProbe === true && info.kind === "error";
    const note = isProbeRefused ? refusedProbeNote(http?.status, message) : undefined;
    const summary: EntrySummary = {
      seq: this.#ring.next,
      connection,
      ms,
      direction,
      kind: info.kind,
      label: method ?? info.kind,
      ...(about === undefined ? {} : { about }),
      bytes: bytes ?? 0,
      ...(answers === undefined ? {} : { answers: answers.seq, latencyMs: ms - answers.ms }),
      ...(call === undefined ? {} : { call }),
      // A message that is not stored cannot show its problems, so none are counted.
      problems: isStored ? (verdictOf(observed, revision, answers?.method)?.problems.length ?? 0) : 0,
      failed: info.failed && note === undefined,
      ...(note === undefined ? {} : { note }),
    };
    const isProbe = added.wanted === undefined && at.isProbe(observed);
    if (info.kind === "request") {
      at.addRequest(observed, { seq: summary.seq, ms, method: summary.label, about, call, revision, isProbe });
    } else if (answers !== undefined && call !== undefined) at.addTask(message, call);
    return this.#add(
      {
        summary,
        ...(isStored ? { message } : {}),
        ...(wire.about === undefined ? {} : { about: wire.about }),
        ...(http === undefined ? {} : { http }),
        connectionNumber: at.number,
        revision,
        isProbe,
      },
      (isStored ? bytes : 0) + exchangeSize(http),
    );
  }

  /** Adds an exchange as an entry of its own, such as an exchange of a login. Returns the number of the entry. */
  addHttp(added: NewExchange): number {
    const { connection, label, exchange, failed, note } = added;
    const bytes = (exchange.responseBody ?? "").length;
    const more = { direction: "sent", bytes, ...(note === undefined ? {} : { note }) } as const;
    const summary = { ...this.#plain(connection, "http", label, failed), ...more };
    return this.#add({ summary, http: exchange, connectionNumber: 0 }, exchangeSize(exchange));
  }

  /**
   * Adds an event of a connection: a status change, a warning, or a line of stderr. Returns the number of the entry.
   */
  addEvent(added: { connection: string; text: string; failed?: boolean }): number {
    const { connection, text, failed = false } = added;
    const label = text.length > MAX_EVENT_LENGTH ? `${text.slice(0, MAX_EVENT_LENGTH)}…` : text;
    const summary = { ...this.#plain(connection, "event", label, failed), bytes: label.length };
    return this.#add({ summary, connectionNumber: 0 }, label.length);
  }

  /** Attaches an HTTP exchange to an entry, or replaces the attached one. Ignores entries that were evicted. */
  attachHttp(seq: number, exchange: HttpExchange): void {
    const entry = this.#ring.get(seq);
    if (entry === undefined) return;
    this.#ring.replace({ ...entry, http: exchange }, exchangeSize(exchange) - exchangeSize(entry.http));
  }

  /** True if an entry is a probe of the client, whose refusal is not a failure. */
  isProbe(seq: number): boolean {
    return this.#ring.get(seq)?.isProbe === true;
  }

  /** Returns at most `limit` summaries, in order, starting at the number `from`. */
  summaries(from: number, limit: number): EntrySummary[] {
    const found: EntrySummary[] = [];
    if (limit <= 0) return found;
    for (const { summary } of this.#ring.from(from)) {
      if (found.push(summary) >= limit) break;
    }
    return found;
  }

  /** Returns a whole entry. Throws `invalid_params` if it does not exist or was evicted. */
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
      const unchecked = "the message was not stored, because it is too large or too deeply nested";
      return { ...known, text: "", cut: true, unchecked, problems: [] };
    }
    const { direction = "sent", label } = summary;
    const observed: ObservedMessage = { direction, message, info: messageInfo(message), about: entry.about };
    const verdict = verdictOf(observed, revision, observed.info.method === undefined ? label : undefined);
    return {
      ...known,
      ...boundedJson(message, MAX_DETAIL_LENGTH),
      ...(verdict === undefined
        ? { unchecked: "no revision was negotiated yet", problems: [] }
        : shownVerdict(verdict)),
    };
  }

  /** Returns an entry as stored. Throws `invalid_params` if it does not exist or was evicted. */
  entry(seq: number): StoredEntry {
    const entry = this.#ring.get(seq);
    if (entry !== undefined) return entry;
    const { first, next } = this.#ring;
    throw new McpError("invalid_params", `the timeline has no entry ${seq}: it has ${first} to ${next - 1}`, {
      fix: "Choose a newer entry. Older ones are dropped when the timeline is full or cleared.",
    });
  }

  /** Returns the stored entries of one connection, in order. */
  stored(connection: string): readonly StoredEntry[] {
    return [...this.#ring.from(0)].filter(({ summary }) => summary.connection === connection);
  }

  /** Calls `listener` with every new entry. Returns a function that unsubscribes the listener. */
  onAdded(listener: (entry: StoredEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  range(): { first: number; next: number; bytes: number } {
    const { first, next, bytes } = this.#ring;
    return { first, next, bytes };
  }

  /** Deletes the entries. Numbering continues. */
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
    const created = new WireConnection(number);
    this.#wires.set(wire, created);
    return created;
  }
}

/** Returns the call of a message. An answer belongs to the call of its request, whichever side sends it. */
function callOf(
  added: NewMessage,
  at: WireConnection,
  observed: ObservedMessage,
  answers: OpenRequest | undefined,
): string | undefined {
  if (answers !== undefined) return answers.call;
  return at.callOf(observed) ?? added.call ?? added.fallbackCall?.();
}

function verdictOf(
  { direction, message }: ObservedMessage,
  revision: Revision | undefined,
  answers: string | undefined,
): MessageVerdict | undefined {
  if (revision === undefined) return undefined;
  const sender = direction === "sent" ? "client" : "server";
  return messageProblems({ revision, sender, message, ...(answers === undefined ? {} : { answers }) });
}

function shownVerdict({ definition, problems, isPartial }: MessageVerdict) {
  const unchecked = isPartial === true ? { unchecked: "it is too large to be checked completely" } : {};
  return { definition, ...unchecked, problems };
}

/** Returns the length of the JSON text. Undefined if the message is nested too deeply to be serialized. */
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
