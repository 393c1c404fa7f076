import type { MethodRow } from "./methods.js";
import type { Revision } from "./revisions.js";

/** An extension of the protocol. Inactive unless it is passed to a server or a client. `defineExtension` makes one. */
export interface Extension {
  /** For example `com.example/feature`; the prefix is required. */
  readonly id: string;
  /** The value of the capability `extensions[id]`; `{}` if it has no settings. */
  readonly settings: Record<string, unknown>;
  /** The first revision in which it is declared. Default: all. */
  readonly first?: Revision | undefined;
  /** The requests and notifications that it adds. */
  readonly methods?: readonly MethodRow[] | undefined;
  /** Further values of `resultType`. */
  readonly resultTypes?: readonly string[] | undefined;
  /** Further members of the filter of `subscriptions/listen`. */
  readonly listenFilters?: readonly string[] | undefined;
  /** Called by a server that gets the extension, with its parts. For `defineExtension`. */
  attachToServer?(parts: unknown): void;
  /** Called by a client that gets the extension, with its parts. For `defineExtension`. */
  attachToClient?(parts: unknown): void;
}

/** The value of the capability `extensions` in a revision; undefined if there is none to declare. */
export function declaredExtensions(
  extensions: readonly Extension[],
  revision: Revision,
): Record<string, unknown> | undefined {
  const declared = extensions.filter(({ first }) => first === undefined || revision >= first);
  return declared.length === 0 ? undefined : Object.fromEntries(declared.map(({ id, settings }) => [id, settings]));
}
