import { withoutUndefined } from "../../encoding/with-defaults.js";
import type { CacheHint } from "../../era/era.js";
import { McpError } from "../../protocol/error.js";

const TOPICS = ["discover", "tools", "prompts", "resources", "resourceTemplates", "read"] as const;

/** A kind of result that clients may cache: a list, the result of `server/discover`, or the contents of resources. */
export type CacheTopic = (typeof TOPICS)[number];

/** Cache hints: a default for all topics, and overrides for single topics. */
export interface CacheOptions extends Partial<CacheHint>, Partial<Record<CacheTopic, Partial<CacheHint>>> {}

/**
 * The safe default: clients cache nothing. The scope is private, so that results are not shared between callers if a
 * program sets only `ttlMs`.
 */
const NO_CACHING: CacheHint = { ttlMs: 0, scope: "private" };

/** Returns the hint for each topic. Computed once per server. */
export function cacheHints(options: CacheOptions = {}): Readonly<Record<CacheTopic, CacheHint>> {
  const { ttlMs, scope } = options;
  const base = cacheHint("`cache`", NO_CACHING, withoutUndefined({ ttlMs, scope }));
  const hints: Partial<Record<CacheTopic, CacheHint>> = {};
  for (const topic of TOPICS) hints[topic] = cacheHint(`\`cache.${topic}\``, base, options[topic]);
  // The loop has set every topic.
  return hints as Record<CacheTopic, CacheHint>;
}

/**
 * Returns a hint with some members replaced. Throws if a value is not valid on the wire.
 *
 * Spec: Caching, "Cacheable Model",
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cacheable-model
 */
export function cacheHint(what: string, base: CacheHint, change: Partial<CacheHint> | undefined): CacheHint {
  if (change === undefined) return base;
  const hint = { ...base, ...change };
  if (!Number.isSafeInteger(hint.ttlMs) || hint.ttlMs < 0) {
    throw new McpError("invalid_definition", `\`ttlMs\` of ${what} is ${hint.ttlMs}`, {
      fix: "Pass whole milliseconds; 0 means that results are not cached.",
    });
  }
  if (hint.scope !== "public" && hint.scope !== "private") {
    throw new McpError("invalid_definition", `\`scope\` of ${what} is ${JSON.stringify(hint.scope)}`, {
      fix: 'Pass "public" or "private".',
    });
  }
  return hint;
}
