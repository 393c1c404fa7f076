import type { Principal } from "../../http/authentication.js";
import type { RequestContext } from "./context.js";

/**
 * The caller of a list. It holds the authorization alone, because lists must not vary by anything else.
 *
 * Spec: Tools, "Capabilities", https://modelcontextprotocol.io/specification/2026-07-28/server/tools#capabilities
 */
export interface VisibilityCaller {
  readonly auth: Principal | undefined;
}

/** Decides whether a caller sees an offer. For other callers it does not exist. */
export type VisibleTo = (caller: VisibilityCaller) => boolean;

/** Suggestions, best first. Clients get the first 100, and learn whether there are more. */
export type Completions = readonly string[] | { values: readonly string[]; total?: number; hasMore?: boolean };

/**
 * Completes one argument: either the list of all values, which is filtered by what was typed, or a function that gets what
 * was typed so far and the arguments that are already filled in.
 */
export type Completer =
  | readonly string[]
  | ((
      value: string,
      args: Readonly<Record<string, string>>,
      ctx: RequestContext,
    ) => Completions | Promise<Completions>);

/** The arguments of one prompt or template, with their completer if they have one. */
export type CompletableArguments = ReadonlyMap<string, Completer | undefined>;

/** A compiled offer of a server's own: its key, its entry in lists, and who sees it. */
export interface OwnOffer<W> {
  readonly key: string;
  readonly item: W;
  readonly visibleTo: VisibleTo | undefined;
}
