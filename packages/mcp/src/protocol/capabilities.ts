/** What a client declares that it can do. Open: unknown members are kept. */
export interface ClientCapabilities {
  experimental?: Record<string, unknown>;
  roots?: { listChanged?: boolean };
  sampling?: { context?: object; tools?: object };
  elicitation?: { form?: object; url?: object };
  extensions?: Record<string, unknown>;
  [other: string]: unknown;
}

/** What a server declares that it offers. Open: unknown members are kept. */
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

/** A client capability by its path: what `ctx.client.can` takes. */
export type ClientCapabilityPath =
  | "elicitation"
  | "elicitation.form"
  | "elicitation.url"
  | "sampling"
  | "sampling.tools"
  | "sampling.context"
  | "roots"
  | (string & {});

/** True when the declared capabilities hold the one at `path`. An empty `elicitation` means forms. */
export function hasCapability(capabilities: object, path: ClientCapabilityPath): boolean {
  let at: unknown = capabilities;
  for (const key of path.split(".")) {
    if (typeof at !== "object" || at === null) return false;
    at = Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined;
  }
  if (at !== undefined && at !== false && at !== null) return true;
  return path === "elicitation.form" && isEmptyObject((capabilities as ClientCapabilities).elicitation);
}

/** The smallest capabilities object that holds all `paths`; the wire's `requiredCapabilities`. */
export function capabilitiesFor(...paths: readonly string[]): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const path of paths) {
    let at = all;
    for (const key of path.split(".")) {
      // Every member was made here, as an object.
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
