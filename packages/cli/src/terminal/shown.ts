import { printable, printableLine } from "@parley/mcp/protocol";

/**
 * Text that may reach a terminal. Only `show`, `showBlock` and `Style` make it, and they spell every control character of what
 * they are given, so that no server can move the cursor, change a title or forge a line.
 */
export class Shown {
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
export type Showable = string | number | boolean | Shown;

/** Makes a line: the template's own text stays, what is inserted is spelled on one line. */
export function show(strings: TemplateStringsArray, ...values: readonly Showable[]): Shown {
  const parts = values.map(shownLine);
  const join = (pick: (part: Shown) => string) =>
    strings.reduce((text, piece, at) => text + piece + (at < parts.length ? pick(parts[at] as Shown) : ""), "");
  return new Shown(
    join(({ text }) => text),
    join(({ plain }) => plain),
  );
}

/** One value for the middle of a line. */
export function shownLine(value: Showable): Shown {
  return value instanceof Shown ? value : new Shown(printableLine(String(value)));
}

/** Text of several lines, as a tool gives it; line feeds and tabs stay, and line ends of Windows become line feeds. */
export function showBlock(text: string): Shown {
  return new Shown(printable(text.replaceAll("\r\n", "\n")));
}

/** As `showBlock`, with every line behind the same margin. */
export function showIndented(text: string, margin = "  "): Shown {
  const { plain } = showBlock(text);
  return new Shown(
    plain
      .split("\n")
      .map((line) => `${margin}${line}`.trimEnd())
      .join("\n"),
  );
}

/** Several pieces as one. */
export function joinShown(parts: readonly Shown[], separator = ""): Shown {
  return new Shown(parts.map(({ text }) => text).join(separator), parts.map(({ plain }) => plain).join(separator));
}
