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

/** Prints what was examined: every step, then the first broken link with its cause and fix, then the warnings. */
export function printCheckup(terminal: Terminal, target: string, checkup: Checkup, server: ExaminedServer): void {
  const { steps, broken } = checkup;
  if (terminal.json) {
    const ok = broken === undefined;
    const first = broken === undefined ? {} : { broken: { step: broken.step, ...broken.finding } };
    terminal.printJson({ target, ok, server, steps, ...first });
    return;
  }
  const { style } = terminal;
  terminal.print(style.bold(target.slice(0, LONGEST_DETAIL)));
  terminal.print();
  terminal.printTable(steps.map((step) => stepRow(step, style)));
  if (broken !== undefined) {
    terminal.print();
    terminal.print(show`${style.red("broken at ")}${style.bold(broken.step)} (${broken.finding.code})`);
    printFinding(terminal, broken.finding);
  }
  for (const { step, finding } of others(steps, broken?.finding)) {
    terminal.print();
    terminal.print(show`${finding.mark(style)}${step} (${finding.code})`);
    printFinding(terminal, finding);
  }
  if (broken === undefined) {
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

function stepRow({ step, status, detail, ms }: Step, style: Style): Shown[] {
  const name =
    status === "failed" ? style.bold(style.red(step)) : status === "skipped" ? style.dim(step) : show`${step}`;
  const took = ms === undefined || ms < SLOW_MS ? "" : ` (${ms} ms)`;
  const text = `${detail.slice(0, LONGEST_DETAIL)}${took}`;
  return [show`  ${MARKS[status](style)}`, name, status === "skipped" ? style.dim(text) : show`${text}`];
}

/** What takes less needs no mention. */
const SLOW_MS = 100;

type Marked = Finding & { mark(style: Style): Shown };

/** Every finding but the first broken link. */
function others(steps: readonly Step[], first: Finding | undefined): { step: string; finding: Marked }[] {
  return steps.flatMap(({ step, status, findings }) =>
    findings
      .filter((finding) => finding !== first)
      .map((finding) => {
        const isBroken = status === "failed" && finding === findings.at(-1);
        const mark = (style: Style) => (isBroken ? style.red("also at ") : style.yellow("warning at "));
        return { step, finding: { ...finding, mark } };
      }),
  );
}

function printFinding(terminal: Terminal, { cause, fix, stderr = [], tried = [] }: Finding): void {
  const { dim } = terminal.style;
  terminal.print(joinShown([dim("cause: "), indented(cause)]));
  terminal.print(joinShown([dim("fix:   "), indented(fix)]));
  for (const [title, lines] of [["stderr:", stderr] as const, ["tried:", tried] as const]) {
    if (lines.length > 0) terminal.print(dim(title));
    for (const line of lines) terminal.print(show`       ${line.slice(0, LONGEST_DETAIL)}`);
  }
}

/** Further lines are indented, so that none of them looks like a line of this program. */
function indented(text: string): Shown {
  const { text: inert } = showBlock(text.slice(0, LONGEST_TEXT));
  return new Shown(inert.replaceAll("\n", "\n       "));
}
