import type { ClientCapabilities } from "./capabilities.js";
import { McpError } from "./error.js";
import { type MethodRow, MethodTable } from "./methods.js";
import type { Revision } from "./revisions.js";

/**
 * An extension of the protocol. It is inactive until it is passed to a server or a client. Created by
 * `defineExtension`.
 */
export interface Extension {
  /** The id, for example `com.example/feature`. The prefix is required. */
  readonly id: string;
  /** The value of the capability `extensions[id]`; `{}` if it has no settings. */
  readonly settings: Record<string, unknown>;
  /** The first revision in which the extension is declared. Default: all revisions. */
  readonly first?: Revision | undefined;
  /**
   * Ids of extensions that the same server or client must also have, in any order. A missing extension is an error. The
   * requirements are not declared to the peer, and do not change the order in which extensions run.
   */
  readonly requires?: readonly string[] | undefined;
  /** The requests and notifications that the extension adds. */
  readonly methods?: readonly MethodRow[] | undefined;
  /** Additional values of `resultType`. */
  readonly resultTypes?: readonly string[] | undefined;
  /** Additional members of the `subscriptions/listen` filter. */
  readonly listenFilters?: readonly string[] | undefined;
  /** Called by the server that receives the extension, with the server's internal interface. For `defineExtension`. */
  attachToServer?(seam: unknown): void;
  /** Called by the client that receives the extension, with the client's internal interface. For `defineExtension`. */
  attachToClient?(seam: unknown): void;
}

/**
 * The methods of a server or client with these extensions. Throws `invalid_definition` for a duplicate id, and for an
 * extension whose requirement is missing.
 */
export function methodsWith(extensions: readonly Extension[], whose: "new Server" | "connect"): MethodTable {
  const ids = new Set<string>();
  for (const { id } of extensions) {
    if (ids.has(id)) {
      throw new McpError("invalid_definition", `the extension ${id} was given twice`, {
        fix: `Pass it once in \`extensions\` of \`${whose}\`.`,
      });
    }
    ids.add(id);
  }
  for (const { id, requires = [] } of extensions) {
    const missing = requires.filter((required) => !ids.has(required));
    if (missing.length === 0) continue;
    const [first = ""] = missing;
    throw new McpError("invalid_definition", `the extension ${id} requires ${missing.join(" and ")}`, {
      data: { extension: id, missing },
      fix: `Add ${first} to \`extensions\` of \`${whose}\`.`,
    });
  }
  return new MethodTable(extensions.flatMap(({ methods }) => methods ?? []));
}

/** The value of the capability `extensions` in a revision. Undefined if no extension is declared in that revision. */
export function declaredExtensions(
  extensions: readonly Extension[],
  revision: Revision,
): Record<string, unknown> | undefined {
  const declared = extensions.filter(({ first }) => first === undefined || revision >= first);
  return declared.length === 0 ? undefined : Object.fromEntries(declared.map(({ id, settings }) => [id, settings]));
}

/**
 * True if the sender of a request declares the extension.
 *
 * @example
 * ```ts
 * import { declaresExtension } from "@parley/mcp/extension";
 *
 * declaresExtension({ extensions: { "com.example/audit": {} } }, "com.example/audit"); // true
 * ```
 */
export function declaresExtension({ extensions }: Pick<ClientCapabilities, "extensions">, id: string): boolean {
  return typeof extensions === "object" && extensions !== null && Object.hasOwn(extensions, id);
}

/**
 * Throws `capability_missing` unless the sender of a request declares the extension.
 *
 * Spec: Extensions, "Negotiation", https://modelcontextprotocol.io/extensions/overview
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/extensions.md | Extensions}
 */
export function requireExtension(call: { readonly clientCapabilities: ClientCapabilities }, id: string): void {
  if (declaresExtension(call.clientCapabilities, id)) return;
  throw new McpError("capability_missing", `the client does not declare the extension ${id}`, {
    data: { requiredCapabilities: { extensions: { [id]: {} } } },
    fix: "Connect with a client that declares it.",
  });
}
