import { createHash } from "node:crypto";
import { type Finding, lintTools } from "@parley/mcp/lint";
import type { Tool } from "@parley/mcp/protocol";

/** Lists whose findings are kept; a user switches between a few servers. */
const MOST_LISTS = 8;

/** Lints lists of tools, and remembers what was found: ten thousand tools take seconds. */
export class KeptFindings {
  readonly #kept = new Map<string, readonly Finding[]>();

  /** What lint says of these tools. */
  of(tools: readonly Tool[], countTokens?: (text: string) => number): readonly Finding[] {
    const key = createHash("sha256").update(JSON.stringify(tools)).digest("base64");
    const findings = this.#kept.get(key) ?? lintTools(tools, { countTokens });
    // The one that was used last is forgotten last.
    this.#kept.delete(key);
    this.#kept.set(key, findings);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_LISTS && oldest !== undefined) this.#kept.delete(oldest);
    return findings;
  }
}
