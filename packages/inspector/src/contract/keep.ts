/** A recording that is under way. */
export interface RecordingInfo {
  readonly startedMs: number;
  readonly messages: number;
  readonly bytes: number;
  /** It has reached its limit, and goes on without new messages. */
  readonly full: boolean;
}

/** One request of a replayed session. */
export interface ReplayedCall {
  readonly method: string;
  readonly about?: string | undefined;
  /** Its arguments as JSON, cut; absent where it has none. */
  readonly arguments?: string | undefined;
  readonly verdict: "same" | "different" | "skipped";
  readonly reason?: string | undefined;
  readonly differences: readonly { readonly path: string; readonly recorded: unknown; readonly now: unknown }[];
}

/** What a server answered differently from a recorded session. */
export interface ReplayReport {
  readonly calls: readonly ReplayedCall[];
  readonly same: number;
  readonly different: number;
  readonly skipped: number;
}

/** A text to be saved as a file. */
export interface KeptFile {
  readonly name: string;
  readonly mediaType: string;
  readonly text: string;
}
