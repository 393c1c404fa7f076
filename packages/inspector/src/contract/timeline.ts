import type { Revision } from "@parley/mcp/protocol";

/** One place at which a message breaks the published schema. */
export interface MessageProblem {
  /** A JSON pointer into the message. */
  readonly path: string;
  /** What is wrong, and what was expected. */
  readonly message: string;
  /** The definition of the schema that demands it, such as `CallToolResult`. */
  readonly definition: string;
}

/** The methods by which a connection begins, in both eras. */
export const HANDSHAKE_METHODS: ReadonlySet<string> = new Set([
  "initialize",
  "notifications/initialized",
  "server/discover",
]);

/** `http`: an exchange that is no message, such as those of a login. `event`: the connection itself, warnings, lines of stderr. */
export type EntryKind = "request" | "notification" | "result" | "error" | "http" | "event";

/** An entry of the timeline, in short. */
export interface EntrySummary {
  /** Counts all entries; never given twice. */
  readonly seq: number;
  readonly connection: string;
  /** Milliseconds since the inspector began. */
  readonly ms: number;
  /** As the client sees it; absent for events. */
  readonly direction?: "sent" | "received" | undefined;
  readonly kind: EntryKind;
  /** The method; of an answer, that of its request. Of `http` and `event`, what happened. */
  readonly label: string;
  /** The tool, prompt or URI that it is about. */
  readonly about?: string | undefined;
  readonly bytes: number;
  /** Of an answer: the entry of its request, and how long that took. */
  readonly answers?: number | undefined;
  readonly latencyMs?: number | undefined;
  /** The call that it belongs to, if that is known. */
  readonly call?: string | undefined;
  /** Places at which it breaks the published schema. */
  readonly problems: number;
  /** A result with `isError`, an error, a failed exchange, a warning. */
  readonly failed: boolean;
  /** What it means, where its kind alone would mislead. */
  readonly note?: string | undefined;
}

/** An HTTP exchange, without secrets. */
export interface HttpExchange {
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Of exchanges that are no messages. */
  readonly requestBody?: string | undefined;
  /** Absent while it is open, and where nothing was answered. */
  readonly status?: number | undefined;
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined;
  readonly responseBody?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly failure?: string | undefined;
}

/** An entry of the timeline as a whole. */
export interface EntryDetail {
  readonly summary: EntrySummary;
  /** The message, as JSON text with two spaces, cut at `MOST_DETAIL` characters. */
  readonly text: string;
  readonly cut: boolean;
  readonly revision?: Revision | undefined;
  /** What the message was held to. */
  readonly definition?: string | undefined;
  /** Why the message was not held to the schema; with a `definition`, why only its beginning was. */
  readonly unchecked?: string | undefined;
  readonly problems: readonly MessageProblem[];
  readonly http?: HttpExchange | undefined;
}

/** What a request can be copied as. */
export type CopyForm = "curl" | "parley" | "typescript" | "json";

/** One call in one era. */
export interface ComparedCall {
  readonly revision: Revision;
  readonly entries: readonly EntryDetail[];
  /** `cancelled`: the user ended the comparison while it was under way, or before it began. */
  readonly outcome: "done" | "failed" | "cancelled";
  readonly durationMs: number;
  readonly problem?: string | undefined;
}

/** The same call in both eras, and where the results differ; they are not compared where a call was cancelled. */
export interface EraComparison {
  readonly calls: readonly ComparedCall[];
  readonly differences: readonly { readonly path: string; readonly left: unknown; readonly right: unknown }[];
}
