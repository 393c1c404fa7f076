import type { ActionHandlers } from "../contract/actions.js";
import type { InspectorState } from "../contract/inspector-state.js";
import type { EntrySummary } from "../contract/timeline.js";

/** The inspector without its page. The web server makes the engine available to the page. */
export interface InspectorEngine {
  readonly handlers: ActionHandlers;
  state(): InspectorState;
  /** Returns at most `limit` timeline entries, in order, starting at the sequence number `from`. */
  entries(from: number, limit: number): readonly EntrySummary[];
  /**
   * Calls `listener` after every change of the state or the timeline, up to many times a second. Returns a function
   * that unsubscribes the listener.
   */
  onChange(listener: () => void): () => void;
  /** Sets the address of the sandbox for apps. The web server calls this before the first request. */
  setSandbox(url: string): void;
  close(): Promise<void>;
}
