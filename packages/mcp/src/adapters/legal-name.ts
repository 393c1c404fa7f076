import { sha256 } from "../platform/sha256.js";

const DIGEST_CHARACTERS = 8;
/** The longest name that OpenAI, Anthropic and Gemini all accept for tools and for properties. */
const LONGEST_NAME = 64;

/**
 * A name of letters, digits and `_`, at most 64 characters, that begins with a letter or `_` and is not in `taken`. Depends on
 * the name alone, unless another name was made to be like it.
 */
export function legalName(name: string, taken: ReadonlySet<string>): string {
  const clean = name
    .slice(0, 256)
    .replace(/[^A-Za-z0-9_]/g, "_")
    .replace(/^(?=[0-9])/, "_")
    .slice(0, LONGEST_NAME - 1 - DIGEST_CHARACTERS);
  for (let attempt = 0; ; attempt++) {
    // As JSON, because it keeps lone surrogates apart, which UTF-8 cannot.
    const bytes = sha256(new TextEncoder().encode(JSON.stringify([name, attempt])));
    const digest = Array.from(bytes.subarray(0, DIGEST_CHARACTERS / 2), (byte) => byte.toString(16).padStart(2, "0"));
    const legal = `${clean}_${digest.join("")}`;
    if (!taken.has(legal)) return legal;
  }
}
