import type { CacheHint } from "../../era/era.js";
import { McpError } from "../../protocol/error.js";

const TOPICS = ["discover", "tools", "prompts", "resources", "resourceTemplates", "read"] as const;

/** What clients may keep: the four lists, what `server/discover` says, and what resources hold. */
export type CacheTopic = (typeof TOPICS)[number];

/** A default for everything, and exceptions by topic. */
export interface CacheOptions extends Partial<CacheHint>, Partial<Record<CacheTopic, Partial<CacheHint>>> {}

/** Nothing is kept unless the program says so, and then not for others: the protocol leaves the choice to servers. */
const NOT_KEPT: CacheHint = { ttlMs: 0, scope: "private" };

/** The hint of each topic, made once. */
export function cacheHints(options: CacheOptions = {}): Readonly<Record<CacheTopic, CacheHint>> {
  const { ttlMs, scope } = options;
  const base = cacheHint("`cache`", NOT_KEPT, {
    ...(ttlMs === undefined ? {} : { ttlMs }),
    ...(scope === undefined ? {} : { scope }),
  });
  const hints: Partial<Record<CacheTopic, CacheHint>> = {};
  for (const topic of TOPICS) hints[topic] = cacheHint(`\`cache.${topic}\``, base, options[topic]);
  // The loop has set every topic.
  return hints as Record<CacheTopic, CacheHint>;
}

/** A hint with some members replaced. Throws for what clients would refuse. */
export function cacheHint(what: string, base: CacheHint, change: Partial<CacheHint> | undefined): CacheHint {
  if (change === undefined) return base;
  const hint = { ...base, ...change };
  if (!Number.isSafeInteger(hint.ttlMs) || hint.ttlMs < 0) {
    throw new McpError("invalid_definition", `${what}: \`ttlMs\` is ${hint.ttlMs}`, {
      fix: "Give whole milliseconds, 0 for results that must not be kept.",
    });
  }
  if (hint.scope !== "public" && hint.scope !== "private") {
    throw new McpError("invalid_definition", `${what}: \`scope\` is ${JSON.stringify(hint.scope)}`, {
      fix: 'Give "public" or "private".',
    });
  }
  return hint;
}
