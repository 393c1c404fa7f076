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
  /** `cancelled`: it was under way when the user cancelled the replay. */
  readonly verdict: "same" | "different" | "skipped" | "cancelled";
  readonly reason?: string | undefined;
  readonly differences: readonly { readonly path: string; readonly recorded: unknown; readonly now: unknown }[];
}

/** What a server answered differently from a recorded session. */
export interface ReplayReport {
  readonly calls: readonly ReplayedCall[];
  readonly same: number;
  readonly different: number;
  readonly skipped: number;
  /** The user cancelled the replay: the calls are those until then. */
  readonly cancelled?: boolean | undefined;
  /** Requests that were left when it was cancelled; absent where that was before they were counted. */
  readonly notSent?: number | undefined;
}

/** A replay or a comparison that is under way. */
export interface RunInfo {
  readonly id: string;
  readonly kind: "replay" | "comparison";
  /** The connection whose server is called. */
  readonly connection: string;
  /** Which of its calls is under way, from 1; 0 while it connects. */
  readonly call: number;
  /** How many calls it has; 0 before that is known. */
  readonly calls: number;
  /** The call in words: a method with a name, or a revision. */
  readonly about: string;
}

/** A text to be saved as a file, as the page gets it. */
export interface KeptFile {
  readonly name: string;
  readonly mediaType: string;
  readonly text: string;
}

/** The same as it is written: part by part, each when the one before was taken. What is left unread is not written. */
export interface WrittenFile extends Omit<KeptFile, "text"> {
  readonly parts: AsyncIterable<string>;
}
