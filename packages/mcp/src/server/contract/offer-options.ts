import type { Principal } from "../../http/authentication.js";
import type { RequestContext } from "./context.js";

/**
 * The caller for whom the server lists or finds an offer. It contains only the authorization, because lists must not
 * depend on anything else.
 *
 * Spec: Tools, "Capabilities", https://modelcontextprotocol.io/specification/2026-07-28/server/tools#capabilities
 */
export interface VisibilityCaller {
  /** The authenticated caller. Undefined without authorization. */
  readonly auth: Principal | undefined;
}

/** Returns true if a caller sees an offer. For all other callers the offer does not exist. */
export type VisibleTo = (caller: VisibilityCaller) => boolean;

/** Suggested values, best first. Clients get the first 100, and `hasMore` if there are more. */
export type Completions = readonly string[] | { values: readonly string[]; total?: number; hasMore?: boolean };

/**
 * Completes one argument. Either the list of all values, which the library filters by the typed text, or a function
 * that gets the typed text, the arguments that are already filled in, and the context of the request.
 */
export type Completer =
  | readonly string[]
  | ((
      value: string,
      args: Readonly<Record<string, string>>,
      ctx: RequestContext,
    ) => Completions | Promise<Completions>);

/** The arguments of one prompt or template, each with its completer if it has one. */
export type CompletableArguments = ReadonlyMap<string, Completer | undefined>;

/** A compiled offer that is registered with the server itself: its key, its entry in lists, and its visibility. */
export interface OwnOffer<W> {
  readonly key: string;
  readonly item: W;
  readonly visibleTo: VisibleTo | undefined;
}
