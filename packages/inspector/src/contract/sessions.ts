/** A running recording. */
export interface RecordingInfo {
  readonly startedMs: number;
  readonly messages: number;
  readonly bytes: number;
  /** True if the recording has reached its limit. The recording then ignores new messages. */
  readonly full: boolean;
}

/** One request of a replayed session. */
export interface ReplayedCall {
  readonly method: string;
  readonly about?: string | undefined;
  /** The arguments as JSON, truncated. Absent if there are none. */
  readonly arguments?: string | undefined;
  /** `cancelled`: the request was running when the user cancelled the replay. */
  readonly verdict: "same" | "different" | "skipped" | "cancelled";
  readonly reason?: string | undefined;
  readonly differences: readonly { readonly path: string; readonly recorded: unknown; readonly now: unknown }[];
}

/** The comparison of a server's responses with those of a recorded session. */
export interface ReplayReport {
  readonly calls: readonly ReplayedCall[];
  readonly same: number;
  readonly different: number;
  readonly skipped: number;
  /**
   * True if the user cancelled the replay. `calls` then has the requests up to the cancellation, including the one that
   * was running.
   */
  readonly cancelled?: boolean | undefined;
  /**
   * Number of requests that were not sent because of the cancellation. Absent if the replay was cancelled before its
   * first request.
   */
  readonly notSent?: number | undefined;
}

/** A running replay or comparison. */
export interface RunInfo {
  readonly id: string;
  readonly kind: "replay" | "comparison";
  /** The connection whose server is called. */
  readonly connection: string;
  /** Position of the running call, counted from 1. 0 while connecting. */
  readonly call: number;
  /** Total number of calls. 0 until it is known. */
  readonly calls: number;
  /**
   * A description of the call. Replay: the method and what it is about, such as a tool name. Comparison: the revision.
   */
  readonly about: string;
}

/** A file to save, as the page receives it. */
export interface FileDownload {
  readonly name: string;
  readonly mediaType: string;
  readonly text: string;
}

/** A file that is produced in parts, each part only when the reader requests it. */
export interface FileStream extends Omit<FileDownload, "text"> {
  readonly parts: AsyncIterable<string>;
}
