import { printable, printableLine } from "@parley/mcp/protocol";

/**
 * Text that is safe to write to a terminal. `show`, `showBlock` and `Style` escape every control character, so that no
 * server can move the cursor, change the title or forge a line.
 */
export class TerminalText {
  /** The text to write, with colours. */
  readonly text: string;
  /** The text without colours, for measuring its width. */
  readonly plain: string;

  constructor(text: string, plain: string = text) {
    this.text = text;
    this.plain = plain;
  }

  toString(): string {
    return this.text;
  }
}

/** A value that `show` accepts. */
export type Showable = string | number | boolean | TerminalText;

/**
 * Builds a line from a template. The template's own text stays as it is; inserted values are escaped and kept on one
 * line.
 */
export function show(strings: TemplateStringsArray, ...values: readonly Showable[]): TerminalText {
  const parts = values.map(showLine);
  const join = (pick: (part: TerminalText) => string) =>
    strings.reduce((text, piece, at) => text + piece + (at < parts.length ? pick(parts[at] as TerminalText) : ""), "");
  return new TerminalText(
    join(({ text }) => text),
    join(({ plain }) => plain),
  );
}

/** Converts one value to escaped text on one line. */
export function showLine(value: Showable): TerminalText {
  return value instanceof TerminalText ? value : new TerminalText(printableLine(String(value)));
}

/** Escapes text of several lines. Line feeds and tabs stay, and CRLF becomes LF. */
export function showBlock(text: string): TerminalText {
  return new TerminalText(printable(text.replaceAll("\r\n", "\n")));
}

/** Like `showBlock`, with every line indented by `margin`. */
export function showIndented(text: string, margin = "  "): TerminalText {
  const { plain } = showBlock(text);
  return new TerminalText(
    plain
      .split("\n")
      .map((line) => `${margin}${line}`.trimEnd())
      .join("\n"),
  );
}

/** Concatenates several texts. */
export function joinText(parts: readonly TerminalText[], separator = ""): TerminalText {
  return new TerminalText(
    parts.map(({ text }) => text).join(separator),
    parts.map(({ plain }) => plain).join(separator),
  );
}
