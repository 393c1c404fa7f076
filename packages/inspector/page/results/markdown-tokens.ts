import { Lexer, type Token } from "marked";

/** Longer texts, and texts with longer lines, are shown as they are. */
export const MOST_MARKDOWN = 200_000;
const LONGEST_LINE = 20_000;
/** A paragraph with more of both is not looked into: the time that it takes grows with their square. */
const LONG_PARAGRAPH = 2_000;
const MOST_DELIMITERS = 200;
/** The time for all paragraphs together; those that come later are shown as they are. */
const MOST_MS = 150;

/**
 * The parts of a Markdown text, or undefined where it is better shown as it is. Bounded in time, because the text may be written to
 * keep a lexer busy for minutes.
 */
export function markdownTokens(
  text: string,
  now: () => number = () => performance.now(),
): readonly Token[] | undefined {
  if (text.length > MOST_MARKDOWN || text.split("\n").some((line) => line.length > LONGEST_LINE)) return undefined;
  try {
    const lexer = new Lexer({ gfm: true });
    const blocks = lexer.blockTokens(text.replaceAll(/\r\n?/g, "\n"), []);
    const deadline = now() + MOST_MS;
    // What `lex` does without looking at the time.
    for (const { src, tokens } of lexer.inlineQueue) {
      if (isCostly(src) || now() > deadline) tokens.push({ type: "text", raw: src, text: src, escaped: false });
      else lexer.inlineTokens(src, tokens);
    }
    return blocks;
  } catch {
    // Deeply nested texts end the lexer's stack.
    return undefined;
  }
}

function isCostly(source: string): boolean {
  if (source.length <= LONG_PARAGRAPH) return false;
  return (source.match(/[*_~`[\]()<!]/g)?.length ?? 0) > MOST_DELIMITERS;
}

/** Signs of Markdown that plain text rarely has. */
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

/** Characters that are looked at to tell Markdown from plain text. */
const LOOKED_AT = 10_000;

/** Whether a text seems to be Markdown. */
export function looksLikeMarkdown(text: string): boolean {
  const start = text.slice(0, LOOKED_AT);
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

/** The common entities of HTML as the characters that they stand for; the result is text, never HTML. */
export function withoutEntities(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|nbsp|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
