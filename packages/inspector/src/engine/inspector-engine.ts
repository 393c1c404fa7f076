import type { ActionHandlers } from "../contract/actions.js";
import type { InspectorState } from "../contract/inspector-state.js";
import type { EntrySummary } from "../contract/timeline.js";

/** The inspector without its page: what the web server serves. */
export interface InspectorEngine {
  readonly handlers: ActionHandlers;
  state(): InspectorState;
  /** Entries of the timeline from a number on, in order, at most `limit`. */
  entries(from: number, limit: number): readonly EntrySummary[];
  /** Calls back after every change of the state or the timeline, many times a second; returns what ends it. */
  onChange(listener: () => void): () => void;
  /** Where the sandbox for apps is listening; told by the web server before the first request. */
  sandboxIs(url: string): void;
  close(): Promise<void>;
}
