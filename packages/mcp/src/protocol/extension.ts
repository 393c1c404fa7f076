import type { MethodRow } from "./methods.js";

/** What an extension adds to the protocol. Off unless it is given to a server or a client. */
export interface Extension {
  /** For example `com.example/feature`; the prefix is mandatory. */
  readonly id: string;
  /** What the capability `extensions[id]` says; `{}` when there is nothing to say. */
  readonly settings: Record<string, unknown>;
  /** Rows of its own requests and notifications. */
  readonly methods?: readonly MethodRow[];
  /** Values of `resultType` beyond the core's two. */
  readonly resultTypes?: readonly string[];
  /** Members that `subscriptions/listen` accepts in its filter. */
  readonly listenFilters?: readonly string[];
}
