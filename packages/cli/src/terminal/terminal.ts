import type { Io } from "./io.js";
import { type Showable, Shown, shownLine } from "./shown.js";
import { StatusLine } from "./status-line.js";
import { Style } from "./style.js";
import { tableLines } from "./table.js";

/** Where a command writes: answers to stdout, everything about them to stderr. */
export class Terminal {
  readonly io: Io;
  /** Colours of stdout. */
  readonly style: Style;
  /** Colours of stderr. */
  readonly noteStyle: Style;
  /** Whether answers are JSON for programs. */
  readonly json: boolean;
  /** The last line of stderr, which changes while something lasts. */
  readonly status: StatusLine;

  constructor(io: Io, json = false) {
    this.io = io;
    this.json = json;
    this.style = json ? new Style(false) : Style.of(io.stdout, io.env);
    this.noteStyle = Style.of(io.stderr, io.env);
    this.status = new StatusLine(io.stderr);
  }

  /** Whether a person can be asked: both ends are a terminal, and the answer is for people. */
  get interactive(): boolean {
    return this.io.stdin.isTTY === true && this.io.stderr.isTTY === true && !this.json;
  }

  /** Columns of the terminal; 80 where there is none. */
  get width(): number {
    return this.io.stdout.columns ?? 80;
  }

  /** Writes a line of the answer. */
  print(line: Shown | string = ""): void {
    this.status.above(() => this.io.stdout.write(`${shownOrBlock(line).text}\n`));
  }

  /** Writes the answer for programs: one JSON document, in which no character can act on a terminal. */
  printJson(value: unknown): void {
    this.io.stdout.write(`${inertJson(JSON.stringify(value, undefined, 2) ?? "null")}\n`);
  }

  /** Writes one JSON document on one line, for answers that come one by one. */
  printJsonLine(value: unknown): void {
    this.io.stdout.write(`${inertJson(JSON.stringify(value) ?? "null")}\n`);
  }

  /** Writes a table of the answer; the last column is cut at the edge of a terminal. */
  printTable(rows: readonly (readonly Showable[])[]): void {
    const edge = this.io.stdout.isTTY === true ? this.width : Number.POSITIVE_INFINITY;
    for (const line of tableLines(
      rows.map((row) => row.map(shownLine)),
      edge,
    ))
      this.print(line);
  }

  /** Tells the user something that is not part of the answer. */
  note(line: Shown | string): void {
    this.status.above(() => this.io.stderr.write(`${shownOrBlock(line).text}\n`));
  }
}

function shownOrBlock(line: Shown | string): Shown {
  return line instanceof Shown ? line : shownLine(line);
}

/** JSON leaves DEL, C1 and characters that turn lines as they are; terminals act on them. */
const ACTIVE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function inertJson(text: string): string {
  return text.replace(ACTIVE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
