/** The capabilities that a client declares. The library preserves unknown members. */
export interface ClientCapabilities {
  /** Capabilities outside the specification, by name. */
  experimental?: Record<string, unknown>;
  /**
   * The client answers `roots/list`. With `listChanged` it also notifies the server when its roots change (until
   * 2025-11-25). Deprecated in 2026-07-28.
   */
  roots?: { listChanged?: boolean };
  /**
   * The client answers `sampling/createMessage`. `context` allows `includeContext`, `tools` allows tools in the request
   * (both from 2025-11-25 on). Deprecated in 2026-07-28.
   */
  sampling?: { context?: object; tools?: object };
  /**
   * The client asks its user for input, with forms or by opening a URL. An empty object means forms only. From
   * 2025-06-18 on.
   */
  elicitation?: { form?: object; url?: object };
  /** Settings of each supported extension, by extension id; `{}` for an extension without settings. */
  extensions?: Record<string, unknown>;
  [other: string]: unknown;
}

/** The capabilities that a server declares. The library preserves unknown members. */
export interface ServerCapabilities {
  /** Capabilities outside the specification, by name. */
  experimental?: Record<string, unknown>;
  /** The server sends log messages to the client. Deprecated in 2026-07-28. */
  logging?: object;
  /** The server suggests values for arguments of prompts and resource templates. From 2025-03-26 on. */
  completions?: object;
  /** The server offers prompts. With `listChanged` it notifies clients when the list changes. */
  prompts?: { listChanged?: boolean };
  /**
   * The server offers resources. With `subscribe` clients can subscribe to single resources, with `listChanged` the
   * server notifies them when the list changes.
   */
  resources?: { subscribe?: boolean; listChanged?: boolean };
  /** The server offers tools. With `listChanged` it notifies clients when the list changes. */
  tools?: { listChanged?: boolean };
  /** Settings of each supported extension, by extension id; `{}` for an extension without settings. */
  extensions?: Record<string, unknown>;
  [other: string]: unknown;
}

/** A client capability by its path, as `ctx.client.can` expects it. */
export type ClientCapabilityPath =
  | "elicitation"
  | "elicitation.form"
  | "elicitation.url"
  | "sampling"
  | "sampling.tools"
  | "sampling.context"
  | "roots"
  | (string & {});

/**
 * True if the declared capabilities include the one at `path`. An empty `elicitation` object means form mode.
 *
 * Spec: Elicitation, "Capabilities",
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#capabilities
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function hasCapability(capabilities: object, path: ClientCapabilityPath): boolean {
  let at: unknown = capabilities;
  for (const key of path.split(".")) {
    if (typeof at !== "object" || at === null) return false;
    at = Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined;
  }
  if (at !== undefined && at !== false && at !== null) return true;
  return path === "elicitation.form" && isEmptyObject((capabilities as ClientCapabilities).elicitation);
}

/** The smallest capabilities object that includes all `paths`, for `requiredCapabilities` on the wire. */
export function capabilitiesFor(...paths: readonly string[]): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const path of paths) {
    let at = all;
    for (const key of path.split(".")) {
      // Safe: this loop creates every member as an object.
      const inner = (Object.hasOwn(at, key) ? at[key] : {}) as Record<string, unknown>;
      at[key] = inner;
      at = inner;
    }
  }
  return all;
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
