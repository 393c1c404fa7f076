import type { Io, Output } from "./io.js";
import { Style } from "./style.js";
import { type Showable, showLine, TerminalText } from "./terminal-text.js";

/** The output of a command: results go to stdout, everything else to stderr. */
export class Terminal {
  readonly io: Io;
  /** Colours of stdout. */
  readonly style: Style;
  /** Colours of stderr. */
  readonly noteStyle: Style;
  /** True if results are printed as JSON. */
  readonly json: boolean;
  /** The last line of stderr, which shows progress. */
  readonly status: StatusLine;

  constructor(io: Io, json = false) {
    this.io = io;
    this.json = json;
    this.style = json ? new Style(false) : Style.of(io.stdout, io.env);
    this.noteStyle = Style.of(io.stderr, io.env);
    this.status = new StatusLine(io.stderr);
  }

  /** True if the program can ask the user: stdin and stderr are terminals, and the output is not JSON. */
  get interactive(): boolean {
    return this.io.stdin.isTTY === true && this.io.stderr.isTTY === true && !this.json;
  }

  /** Columns of the terminal (default: 80). */
  get width(): number {
    return this.io.stdout.columns ?? 80;
  }

  /** Prints a line of the result. */
  print(line: TerminalText | string = ""): void {
    this.status.writeAbove(() => this.io.stdout.write(`${toTerminalText(line).text}\n`));
  }

  /** Prints the result as one JSON document. Characters that act on terminals are escaped. */
  printJson(value: unknown): void {
    this.io.stdout.write(`${inertJson(JSON.stringify(value, undefined, 2) ?? "null")}\n`);
  }

  /** Prints one JSON document on one line, for results that arrive one by one. */
  printJsonLine(value: unknown): void {
    this.io.stdout.write(`${inertJson(JSON.stringify(value) ?? "null")}\n`);
  }

  /** Prints rows as a table. On a terminal, rows are cut at the right edge. */
  printTable(rows: readonly (readonly Showable[])[]): void {
    const edge = this.io.stdout.isTTY === true ? this.width : Number.POSITIVE_INFINITY;
    for (const line of tableLines(
      rows.map((row) => row.map(showLine)),
      edge,
    ))
      this.print(line);
  }

  /** Prints a line to stderr, apart from the result. */
  note(line: TerminalText | string): void {
    this.status.writeAbove(() => this.io.stderr.write(`${toTerminalText(line).text}\n`));
  }
}

function toTerminalText(line: TerminalText | string): TerminalText {
  return line instanceof TerminalText ? line : showLine(line);
}

/** Characters that act on terminals but that JSON does not escape: DEL, C1 and directional marks. */
const ACTIVE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function inertJson(text: string): string {
  return text.replace(ACTIVE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Minimum time between two redraws, because a server may report thousands of steps per second. */
const MIN_REDRAW_MS = 50;
const ERASE = "\r\u001b[2K";

/** A line at the bottom of a terminal that is redrawn in place. Draws nothing if stderr is not a terminal. */
class StatusLine {
  readonly #stream: Output;
  #line: TerminalText | undefined;
  #drawn = false;
  #hidden = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(stream: Output) {
    this.#stream = stream;
  }

  /** True if stderr is a terminal. */
  get visible(): boolean {
    return this.#stream.isTTY === true;
  }

  /** Replaces the line, and redraws it at most once per `MIN_REDRAW_MS`. `undefined` removes the line. */
  set(line: TerminalText | undefined): void {
    this.#line = line;
    if (line === undefined) return this.#erase();
    const now = performance.now();
    if (now - this.#lastMs < MIN_REDRAW_MS) return;
    this.#lastMs = now;
    this.#draw();
  }

  /** Writes output above the line. */
  writeAbove(write: () => void): void {
    this.#erase();
    write();
    this.#draw();
  }

  /** Hides the line during a question. */
  async hideWhile<T>(ask: () => Promise<T>): Promise<T> {
    this.#hidden++;
    this.#erase();
    try {
      return await ask();
    } finally {
      this.#hidden--;
      this.#draw();
    }
  }

  #draw(): void {
    if (!this.visible || this.#line === undefined || this.#hidden > 0) return;
    this.#stream.write(`${ERASE}${truncateText(this.#line, (this.#stream.columns ?? 80) - 1).text}`);
    this.#drawn = true;
  }

  #erase(): void {
    if (this.#drawn) this.#stream.write(ERASE);
    this.#drawn = false;
  }
}

/** Formats a table: columns as wide as their widest cell, two spaces between them, cut at `edge`. */
function tableLines(rows: readonly (readonly TerminalText[])[], edge: number): TerminalText[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(0, ...rows.map((row) => columnsOf(row[at]?.plain ?? ""))),
  );
  return rows.map((row) => {
    let text = "";
    let plain = "";
    row.forEach((cell, at) => {
      const room = edge - columnsOf(plain);
      const shown = truncateText(cell, room);
      const gap = at === row.length - 1 ? "" : " ".repeat((widths[at] ?? 0) - columnsOf(cell.plain) + 2);
      text += shown.text + gap;
      plain += shown.plain + gap;
    });
    return new TerminalText(text.trimEnd(), plain.trimEnd());
  });
}

/** Cuts a text to `room` columns. A text that is cut loses its colours. */
function truncateText(cell: TerminalText, room: number): TerminalText {
  if (columnsOf(cell.plain) <= room) return cell;
  if (room < 1) return new TerminalText("");
  let kept = "";
  let used = 0;
  for (const char of cell.plain) {
    used += columnsOf(char);
    if (used > room - 1) break;
    kept += char;
  }
  return new TerminalText(`${kept}…`);
}

/** Characters that take two columns: East Asian scripts and most emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const MARK = /\p{Mn}|\p{Me}|\u200d|\ufe0f/u;

function columnsOf(text: string): number {
  let columns = 0;
  for (const char of text) columns += MARK.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return columns;
}
