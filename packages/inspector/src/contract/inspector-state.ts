import type { CallInfo } from "./calls.js";
import type { ConnectionInfo, TargetInfo } from "./connections.js";
import type { QuestionInfo } from "./questions.js";
import type { RecordingInfo, RunInfo } from "./sessions.js";
import type { EntryDetail, EntrySummary } from "./timeline.js";

/** A subscription to a resource. */
export interface SubscriptionInfo {
  readonly connection: string;
  readonly uri: string;
  /** Number of updates that the server announced. */
  readonly updates: number;
}

/** The state of the inspector that the page shows. It must stay small: the whole state is sent after each change. */
export interface InspectorState {
  readonly version: string;
  /** The targets that the inspector was started with. */
  readonly targets: readonly TargetInfo[];
  readonly connections: readonly ConnectionInfo[];
  /** The calls, the newest first. The oldest calls that have ended are evicted. */
  readonly calls: readonly CallInfo[];
  readonly questions: readonly QuestionInfo[];
  readonly subscriptions: readonly SubscriptionInfo[];
  readonly recording?: RecordingInfo | undefined;
  /** Running replays and comparisons. Absent if there are none. */
  readonly runs?: readonly RunInfo[] | undefined;
  /** True if the inspector was started with a command that answers sampling requests. */
  readonly modelCommand: boolean;
  /** The range of stored timeline entries: `first` to `next - 1`. */
  readonly timeline: { readonly first: number; readonly next: number; readonly bytes: number };
}

/** An event that the server sends to the page, as one line of JSON. */
export type InspectorEvent =
  | { readonly type: "state"; readonly state: InspectorState }
  /** Sorted by `seq`. `dropped` counts the entries that were evicted before they could be sent. */
  | { readonly type: "entries"; readonly entries: readonly EntrySummary[]; readonly dropped: number };

/** A session in a self-contained file, as the page reads it. */
export interface SharedSession {
  readonly format: "parley-shared-session";
  readonly exported: string;
  readonly connections: readonly ConnectionInfo[];
  readonly entries: readonly EntryDetail[];
  /**
   * Number of entries that the file omits: the oldest entries if the file would be too large, and the entries of
   * removed connections.
   */
  readonly leftOut: number;
}
