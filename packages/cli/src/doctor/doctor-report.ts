import { joinShown, Shown, show, showBlock } from "../terminal/shown.js";
import type { Style } from "../terminal/style.js";
import type { Terminal } from "../terminal/terminal.js";
import type { Checkup, Finding, Step, StepStatus } from "./checkup.js";

/** Who the server says it is. */
export interface ExaminedServer {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly revision?: string | undefined;
}

/** A text of a server may be of any length; the beginning says what it is. */
const LONGEST_TEXT = 600;
const LONGEST_DETAIL = 200;

/** Prints an examination: for people each step when it is done, and what was found at the end; for programs one document. */
export class DoctorReport {
  readonly #terminal: Terminal;
  readonly #target: string;

  constructor(terminal: Terminal, target: string) {
    this.#terminal = terminal;
    this.#target = target;
    if (terminal.json) return;
    terminal.print(terminal.style.bold(target.slice(0, LONGEST_DETAIL)));
    terminal.print();
  }

  /** Prints one line for a step. */
  step(step: Step): void {
    if (!this.#terminal.json) this.#terminal.printTable([stepRow(step, this.#terminal.style)]);
  }

  /** Prints the first broken link with its cause and fix, then the warnings. */
  end({ steps, broken }: Checkup, server: ExaminedServer): void {
    const terminal = this.#terminal;
    const { style } = terminal;
    if (terminal.json) {
      const first = broken === undefined ? {} : { broken: { step: broken.step, ...broken.finding } };
      terminal.printJson({ target: this.#target, ok: broken === undefined, server, steps, ...first });
      return;
    }
    if (broken !== undefined) {
      terminal.print();
      terminal.print(show`${style.red("broken at ")}${style.bold(broken.step)} (${broken.finding.code})`);
      printFinding(terminal, broken.finding);
    }
    for (const { step, finding, mark } of others(steps, broken?.finding)) {
      terminal.print();
      terminal.print(show`${mark(style)}${step} (${finding.code})`);
      printFinding(terminal, finding);
    }
    if (broken !== undefined) return;
    terminal.print();
    terminal.print(style.green("All is well."));
  }
}

const MARKS: Record<StepStatus, (style: Style) => Shown> = {
  ok: (style) => style.green("ok"),
  warning: (style) => style.yellow("warning"),
  failed: (style) => style.red("failed"),
  skipped: (style) => style.dim("skipped"),
};

/** The widest mark and the longest name of a step: lines are printed one by one, and still are a table. */
const MARK_WIDTH = "skipped".length;
const NAME_WIDTH = "handshake".length;

function stepRow({ step, status, detail, ms }: Step, style: Style): Shown[] {
  const name =
    status === "failed" ? style.bold(style.red(step)) : status === "skipped" ? style.dim(step) : show`${step}`;
  const took = ms === undefined || ms < SLOW_MS ? "" : ` (${ms} ms)`;
  const text = `${detail.slice(0, LONGEST_DETAIL)}${took}`;
  const mark = padded(MARKS[status](style), MARK_WIDTH);
  return [show`  ${mark}`, padded(name, NAME_WIDTH), status === "skipped" ? style.dim(text) : show`${text}`];
}

function padded(shown: Shown, width: number): Shown {
  return show`${shown}${" ".repeat(Math.max(0, width - shown.plain.length))}`;
}

/** What takes less needs no mention. */
const SLOW_MS = 100;

interface OtherFinding {
  readonly step: string;
  readonly finding: Finding;
  mark(style: Style): Shown;
}

/** Every finding but the first broken link. */
function others(steps: readonly Step[], first: Finding | undefined): OtherFinding[] {
  return steps.flatMap(({ step, status, findings }) =>
    findings
      .filter((finding) => finding !== first)
      .map((finding) => {
        const isBroken = status === "failed" && finding === findings.at(-1);
        const mark = (style: Style) => (isBroken ? style.red("also at ") : style.yellow("warning at "));
        return { step, finding, mark };
      }),
  );
}

function printFinding(terminal: Terminal, { cause, fix, stderr = [], tried = [] }: Finding): void {
  const { dim } = terminal.style;
  const edge = terminal.io.stdout.isTTY === true ? Math.max(NARROWEST, terminal.width) : Number.POSITIVE_INFINITY;
  terminal.print(joinShown([dim("cause: "), indented(cause, edge)]));
  terminal.print(joinShown([dim("fix:   "), indented(fix, edge)]));
  for (const [title, lines] of [["stderr:", stderr] as const, ["tried:", tried] as const]) {
    if (lines.length > 0) terminal.print(dim(title));
    for (const line of lines) terminal.print(show`       ${line.slice(0, LONGEST_DETAIL)}`);
  }
}

/** Narrower terminals break lines as they like. */
const NARROWEST = 40;
const INDENT = "\n       ";

/** Further lines are indented, so that none of them looks like a line of this program; no line goes beyond `edge`. */
function indented(text: string, edge: number): Shown {
  const { text: inert } = showBlock(text.slice(0, LONGEST_TEXT));
  const lines = inert.split("\n").flatMap((line) => wrapped(line, edge - INDENT.length));
  return new Shown(lines.join(INDENT));
}

function wrapped(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(" ")) {
    if (current !== "" && current.length + 1 + word.length > width) {
      lines.push(current);
      current = word;
    } else current = current === "" ? word : `${current} ${word}`;
  }
  return [...lines, current];
}
