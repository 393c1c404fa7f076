import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { Revision } from "../../protocol/revisions.js";
import type { ServerCall } from "./server-call.js";

/** Serves one method. The result object goes through middleware and is then encoded by the era. */
export type MethodHandler = (call: ServerCall) => object | Promise<object>;

/** A group of methods that belong together, for example all of tools, and the capabilities it declares. */
export interface Feature {
  readonly handlers: Readonly<Record<string, MethodHandler>>;
  /** Throws, before anything slow, what HTTP refuses by its status; by method. */
  readonly checks?: Readonly<Record<string, (call: ServerCall) => void>>;
  /** True while nothing that it offers has anything to check; the server looks again when its offers change. */
  readonly checksNothing?: boolean;
  /** Whether something that it offers needs a session where the revision has sessions; asked again at every handshake. */
  readonly needsSession?: boolean;
  /** What this feature adds to the server's capabilities; `{}` while it is not in use. */
  capabilities(revision: Revision): ServerCapabilities;
  /** Why capabilities are on or off, by path, where the general explanation does not apply. */
  reasons?(): Readonly<Record<string, string>>;
  /** True for a method that has nothing to serve with these capabilities; clients then get "method not found". */
  withholds?(method: string, capabilities: ServerCapabilities): boolean;
}
