/** Counts the tokens of a text. */
export type CountTokens = (text: string) => number;

/** The built-in tokenizers. */
export const TOKENIZERS = ["o200k_base"] as const;

/**
 * Matches long runs of one kind of character. Texts are split at such runs, because the tokenizer takes quadratic time
 * in the length of a word, and a server may send a word of a million letters. Ordinary text has no such words, so its
 * count stays exact.
 */
const LONG_RUN = /([\p{L}\p{M}]{400}|[^\s\p{L}\p{M}\p{N}]{400}|\s{400})/u;

/** Loads the tokenizer. Call it only if needed, because loading takes longer than most commands. */
export async function loadTokenizer(): Promise<CountTokens> {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  // Special tokens count as plain text, as providers treat them.
  const options = { disallowedSpecial: new Set<string>() };
  return (text) => text.split(LONG_RUN).reduce((sum, part) => sum + (part === "" ? 0 : countTokens(part, options)), 0);
}
