import { toBase64Url } from "../../encoding/base64.js";
import { canonicalJson } from "../../encoding/canonical-json.js";
import type { Question } from "../../era/era.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";

/** Names the questions of one run of a handler, the same in every run: by their own keys, or by what they ask. */
export class QuestionNames {
  readonly #platform: Platform;
  readonly #counts = new Map<string, number>();
  readonly #keys = new Set<string>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** The name of the next question. Throws when its key was used before. */
  next(question: Question, key: string | undefined): string {
    if (key !== undefined) {
      if (this.#keys.has(key)) {
        throw new McpError("misuse", `the question key "${key}" was used twice in one call`, {
          fix: "Use a different key for each question.",
        });
      }
      this.#keys.add(key);
      return key;
    }
    const text = canonicalJson([question.method, question.params ?? {}]);
    const digest = toBase64Url(this.#platform.sha256(new TextEncoder().encode(text)).subarray(0, 16));
    const count = this.#counts.get(digest) ?? 0;
    this.#counts.set(digest, count + 1);
    return count === 0 ? digest : `${digest}.${count}`;
  }
}
