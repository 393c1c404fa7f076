import { Lexer, type Token } from "marked";

/** Maximum number of characters in a text, and in one line. Texts beyond these limits are shown unformatted. */
export const MAX_MARKDOWN_LENGTH = 200_000;
const MAX_LINE_LENGTH = 20_000;
/**
 * Paragraphs longer than `LONG_PARAGRAPH` with more than `MAX_DELIMITERS` delimiters are not parsed, because parsing
 * takes quadratic time.
 */
const LONG_PARAGRAPH = 2_000;
const MAX_DELIMITERS = 200;
/** Maximum time for parsing all paragraphs together. The remaining paragraphs are shown unformatted. */
const MAX_INLINE_MS = 150;

/**
 * Parses a Markdown text. Undefined if the text must be shown unformatted. The time is bounded, because a hostile text
 * could occupy the lexer for minutes.
 */
export function markdownTokens(
  text: string,
  now: () => number = () => performance.now(),
): readonly Token[] | undefined {
  if (text.length > MAX_MARKDOWN_LENGTH || text.split("\n").some((line) => line.length > MAX_LINE_LENGTH))
    return undefined;
  try {
    const lexer = new Lexer({ gfm: true });
    const blocks = lexer.blockTokens(text.replaceAll(/\r\n?/g, "\n"), []);
    const deadline = now() + MAX_INLINE_MS;
    // The same loop as in the lexer's `lex`, with a deadline.
    for (const { src, tokens } of lexer.inlineQueue) {
      if (isCostly(src) || now() > deadline) tokens.push({ type: "text", raw: src, text: src, escaped: false });
      else lexer.inlineTokens(src, tokens);
    }
    return blocks;
  } catch {
    // Deeply nested texts overflow the stack of the lexer.
    return undefined;
  }
}

function isCostly(source: string): boolean {
  if (source.length <= LONG_PARAGRAPH) return false;
  return (source.match(/[*_~`[\]()<!]/g)?.length ?? 0) > MAX_DELIMITERS;
}

/** Markdown syntax that is rare in plain text. */
const SIGNS: readonly RegExp[] = [
  /^#{1,6} \S/m,
  /^```/m,
  /^\|.*\|\n\|[ :|-]+\|/m,
  /^[-*+] \S.*\n[-*+] \S/m,
  /^\d+\. \S.*\n\d+\. \S/m,
  /\*\*\S[^*\n]{0,200}\*\*/,
  /\[[^\]\n]{1,200}\]\(https?:[^)\s]{1,500}\)/,
  /^> \S/m,
];

/** Number of characters inspected to distinguish Markdown from plain text. */
const SAMPLE_LENGTH = 10_000;

/** True if a text seems to be Markdown. */
export function looksLikeMarkdown(text: string): boolean {
  const start = text.slice(0, SAMPLE_LENGTH);
  return SIGNS.some((sign) => sign.test(start));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": "\u00a0",
};

/** Decodes the common HTML entities. The result is text, never HTML. */
export function withoutEntities(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|nbsp|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
