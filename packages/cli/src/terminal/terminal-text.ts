import { printable, printableLine } from "@parley/mcp/protocol";

/**
 * Text that may reach a terminal. Only `show`, `showBlock` and `Style` make it, and they spell every control character of what
 * they are given, so that no server can move the cursor, change a title or forge a line.
 */
export class TerminalText {
  /** What is written. */
  readonly text: string;
  /** The same without colours, for measuring. */
  readonly plain: string;

  constructor(text: string, plain: string = text) {
    this.text = text;
    this.plain = plain;
  }

  toString(): string {
    return this.text;
  }
}

/** Anything that can stand in a line. */
export type Showable = string | number | boolean | TerminalText;

/** Makes a line: the template's own text stays, what is inserted is spelled on one line. */
export function show(strings: TemplateStringsArray, ...values: readonly Showable[]): TerminalText {
  const parts = values.map(showLine);
  const join = (pick: (part: TerminalText) => string) =>
    strings.reduce((text, piece, at) => text + piece + (at < parts.length ? pick(parts[at] as TerminalText) : ""), "");
  return new TerminalText(
    join(({ text }) => text),
    join(({ plain }) => plain),
  );
}

/** One value for the middle of a line. */
export function showLine(value: Showable): TerminalText {
  return value instanceof TerminalText ? value : new TerminalText(printableLine(String(value)));
}

/** Text of several lines, as a tool gives it; line feeds and tabs stay, and line ends of Windows become line feeds. */
export function showBlock(text: string): TerminalText {
  return new TerminalText(printable(text.replaceAll("\r\n", "\n")));
}

/** As `showBlock`, with every line behind the same margin. */
export function showIndented(text: string, margin = "  "): TerminalText {
  const { plain } = showBlock(text);
  return new TerminalText(
    plain
      .split("\n")
      .map((line) => `${margin}${line}`.trimEnd())
      .join("\n"),
  );
}

/** Several pieces as one. */
export function joinText(parts: readonly TerminalText[], separator = ""): TerminalText {
  return new TerminalText(
    parts.map(({ text }) => text).join(separator),
    parts.map(({ plain }) => plain).join(separator),
  );
}
