/** The capabilities that a client declares. Unknown members are kept. */
export interface ClientCapabilities {
  experimental?: Record<string, unknown>;
  roots?: { listChanged?: boolean };
  sampling?: { context?: object; tools?: object };
  elicitation?: { form?: object; url?: object };
  extensions?: Record<string, unknown>;
  [other: string]: unknown;
}

/** The capabilities that a server declares. Unknown members are kept. */
export interface ServerCapabilities {
  experimental?: Record<string, unknown>;
  logging?: object;
  completions?: object;
  prompts?: { listChanged?: boolean };
  resources?: { subscribe?: boolean; listChanged?: boolean };
  tools?: { listChanged?: boolean };
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
 * Whether the declared capabilities include the one at `path`. An empty `elicitation` object means form mode.
 *
 * Spec: Elicitation, "Capabilities",
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#capabilities
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
