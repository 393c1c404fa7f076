import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { type Finding, LINT_RULES, lintTools } from "@parley/mcp/lint";
import type { Tool } from "@parley/mcp/protocol";

/** Lists whose findings are kept; a user switches between a few servers. */
const MOST_LISTS = 8;

/** Lints lists of tools, and remembers what was found: ten thousand tools take seconds. */
export class KeptFindings {
  readonly #kept = new Map<string, Promise<readonly Finding[]>>();

  /** What lint says of these tools, by rule. */
  of(tools: readonly Tool[], countTokens?: (text: string) => number): Promise<readonly Finding[]> {
    const key = createHash("sha256").update(JSON.stringify(tools)).digest("base64");
    const findings = this.#kept.get(key) ?? findingsOf(tools, countTokens);
    // The one that was used last is forgotten last.
    this.#kept.delete(key);
    this.#kept.set(key, findings);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_LISTS && oldest !== undefined) this.#kept.delete(oldest);
    return findings;
  }
}

/** One rule after another, so that others get their turn. */
async function findingsOf(
  tools: readonly Tool[],
  countTokens: ((text: string) => number) | undefined,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { id } of LINT_RULES) {
    for (const finding of lintTools(tools, { only: [id], countTokens })) findings.push(finding);
    await setImmediate();
  }
  return findings;
}
