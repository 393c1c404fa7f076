import type { CallInfo } from "./calls.js";
import type { ConnectionInfo, TargetInfo } from "./connections.js";
import type { RecordingInfo, RunInfo } from "./keep.js";
import type { QuestionInfo } from "./questions.js";
import type { EntryDetail, EntrySummary } from "./timeline.js";

/** A resource that is watched. */
export interface SubscriptionInfo {
  readonly connection: string;
  readonly uri: string;
  /** Changes that were announced. */
  readonly updates: number;
}

/** Everything that the page shows at once. Small and bounded, because it is sent as a whole after each change. */
export interface InspectorState {
  readonly version: string;
  /** What the terminal offers to connect to. */
  readonly targets: readonly TargetInfo[];
  readonly connections: readonly ConnectionInfo[];
  /** The newest first; older ones are forgotten. */
  readonly calls: readonly CallInfo[];
  readonly questions: readonly QuestionInfo[];
  readonly subscriptions: readonly SubscriptionInfo[];
  readonly recording?: RecordingInfo | undefined;
  /** Replays and comparisons that are under way; absent where there is none. */
  readonly runs?: readonly RunInfo[] | undefined;
  /** Whether the terminal configured a command that answers for a model. */
  readonly modelCommand: boolean;
  /** Entries of the timeline that are kept: `first` to `next - 1`. */
  readonly timeline: { readonly first: number; readonly next: number; readonly bytes: number };
}

/** What the page is told without asking, one JSON object on a line. */
export type InspectorEvent =
  | { readonly type: "state"; readonly state: InspectorState }
  /** In order of `seq`; `dropped` entries were forgotten before they could be sent. */
  | { readonly type: "entries"; readonly entries: readonly EntrySummary[]; readonly dropped: number };

/** A session in one self-contained file, as the page reads it. */
export interface SharedSession {
  readonly format: "parley-shared-session";
  readonly exported: string;
  readonly connections: readonly ConnectionInfo[];
  readonly entries: readonly EntryDetail[];
  /** Entries that are not in the file: the oldest, where all would be too much, and those of connections that were removed. */
  readonly leftOut: number;
}
