/** Counts the tokens of a text. */
export type CountTokens = (text: string) => number;

/** The tokenizers that are built in. */
export const TOKENIZERS = ["o200k_base"] as const;

/**
 * Runs of one kind of character that are counted in parts: merging is quadratic in the length of a word, and a server may send a
 * word of a million letters. No text that people write has such words, so that its count is exact.
 */
const LONG_RUN = /([\p{L}\p{M}]{400}|[^\s\p{L}\p{M}\p{N}]{400}|\s{400})/u;

/** Loads the tokenizer, which takes longer than most commands run. */
export async function loadTokenizer(): Promise<CountTokens> {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  // Special tokens in the text of a server are only text, as they are for a provider.
  const options = { disallowedSpecial: new Set<string>() };
  return (text) => text.split(LONG_RUN).reduce((sum, part) => sum + (part === "" ? 0 : countTokens(part, options)), 0);
}
