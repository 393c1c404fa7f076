import type { Revision } from "@parley/mcp/protocol";

/** A violation of the published schema. */
export interface MessageProblem {
  /** A JSON pointer into the message. */
  readonly path: string;
  /** The actual value and the expected one. */
  readonly message: string;
  /** The definition of the schema that the message violates, such as `CallToolResult`. */
  readonly definition: string;
}

/** The methods of the handshake, in both eras. */
export const HANDSHAKE_METHODS: ReadonlySet<string> = new Set([
  "initialize",
  "notifications/initialized",
  "server/discover",
]);

/**
 * `http`: an HTTP exchange that has an entry of its own, such as one of a login or a refused request. `event`: a change
 * of the connection, a warning, or a line of stderr.
 */
export type EntryKind = "request" | "notification" | "result" | "error" | "http" | "event";

/** A summary of a timeline entry. */
export interface EntrySummary {
  /** The sequence number of the entry. Numbers are never reused. */
  readonly seq: number;
  readonly connection: string;
  /** Milliseconds since the inspector started. */
  readonly ms: number;
  /** The direction as seen by the client. Absent for events. */
  readonly direction?: "sent" | "received" | undefined;
  readonly kind: EntryKind;
  /** The method of the message, or of the request that it answers. A description for `http` and `event`. */
  readonly label: string;
  /** The tool, prompt, URI or task that the message names. */
  readonly about?: string | undefined;
  readonly bytes: number;
  /** For an answer: the `seq` of its request. */
  readonly answers?: number | undefined;
  /** For an answer: the time since its request. */
  readonly latencyMs?: number | undefined;
  /** The call that the entry belongs to, if known. */
  readonly call?: string | undefined;
  /** Number of violations of the published schema. */
  readonly problems: number;
  /**
   * True for a result with `isError`, an error, a failed exchange, and an event that reports a problem. False for a
   * refusal that is expected, which has a `note`.
   */
  readonly failed: boolean;
  /** The reason why a refusal is expected. Present for the refusal of a probe. */
  readonly note?: string | undefined;
}

/** An HTTP exchange, without secrets. */
export interface HttpExchange {
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Only for exchanges that carry no message. */
  readonly requestBody?: string | undefined;
  /** Absent until the response begins, and if there is no response. */
  readonly status?: number | undefined;
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined;
  readonly responseBody?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly failure?: string | undefined;
}

/** A whole timeline entry. */
export interface EntryDetail {
  readonly summary: EntrySummary;
  /** The message as indented JSON, truncated to `MAX_DETAIL_LENGTH` characters. */
  readonly text: string;
  readonly cut: boolean;
  readonly revision?: Revision | undefined;
  /** The definition that the message was validated against. */
  readonly definition?: string | undefined;
  /**
   * The reason why the message was not validated or, if `definition` is present, why only the beginning of the message
   * was.
   */
  readonly unchecked?: string | undefined;
  readonly problems: readonly MessageProblem[];
  readonly http?: HttpExchange | undefined;
}

/** The formats that a request can be copied in. */
export type CopyForm = "curl" | "parley" | "typescript" | "json";

/** One call of a comparison. */
export interface ComparedCall {
  readonly revision: Revision;
  readonly entries: readonly EntryDetail[];
  /** `cancelled`: the user cancelled the comparison before or during the call. */
  readonly outcome: "done" | "failed" | "cancelled";
  readonly durationMs: number;
  readonly problem?: string | undefined;
}

/**
 * The same call in two revisions, and the differences between the results. `differences` is empty if a call was
 * cancelled.
 */
export interface EraComparison {
  readonly calls: readonly ComparedCall[];
  readonly differences: readonly { readonly path: string; readonly left: unknown; readonly right: unknown }[];
}
