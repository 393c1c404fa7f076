import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { Revision } from "../../protocol/revisions.js";
import type { ServerCall } from "../call/server-call.js";

/** Serves one method. The result object goes through middleware and is then encoded by the era. */
export type MethodHandler = (call: ServerCall) => object | Promise<object>;

/** A part of what servers offer: its methods, and what it declares. */
export interface Feature {
  readonly handlers: Readonly<Record<string, MethodHandler>>;
  /** What this feature adds to the server's capabilities; nothing when it is not in use. */
  capabilities(revision: Revision): ServerCapabilities;
  /** Why capabilities are on or off, by their paths, where this feature knows better than what is registered. */
  reasons?(): Readonly<Record<string, string>>;
  /** True for a method of this feature that makes no sense with these capabilities; it is then unknown to clients. */
  withholds?(method: string, capabilities: ServerCapabilities): boolean;
}
