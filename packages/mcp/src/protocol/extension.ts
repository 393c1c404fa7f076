import type { MethodRow } from "./methods.js";

/** An extension of the protocol. Inactive unless it is passed to a server or a client. */
export interface Extension {
  /** For example `com.example/feature`; the prefix is required. */
  readonly id: string;
  /** The value of the capability `extensions[id]`; `{}` if it has no settings. */
  readonly settings: Record<string, unknown>;
  /** The requests and notifications that it adds. */
  readonly methods?: readonly MethodRow[];
  /** Further values of `resultType`. */
  readonly resultTypes?: readonly string[];
  /** Further members of the filter of `subscriptions/listen`. */
  readonly listenFilters?: readonly string[];
}
