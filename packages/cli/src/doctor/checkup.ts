import { McpError } from "@parley/mcp";
import { EXIT, type ExitCode } from "../terminal/exit-code.js";

/** What became of one step; a step with warnings works. */
export type StepStatus = "ok" | "warning" | "failed" | "skipped";

/** Something that a step found: `code` is stable, for programs. */
export interface Finding {
  readonly code: string;
  readonly cause: string;
  readonly fix: string;
  /** What the server printed, oldest first. */
  readonly stderr?: readonly string[];
  /** What was tried on the way to a login, in order. */
  readonly tried?: readonly string[];
}

/** One step of the way to a server. */
export interface Step {
  readonly step: string;
  readonly status: StepStatus;
  /** What was seen, or why it was not looked at. */
  readonly detail: string;
  readonly ms?: number;
  readonly findings: readonly Finding[];
}

/** Ends a step: the link is broken. */
export class BrokenLink extends Error {
  override readonly name = "BrokenLink";
  readonly finding: Finding;
  readonly exit: ExitCode | undefined;

  constructor(finding: Finding, exit?: ExitCode) {
    super(finding.cause);
    this.finding = finding;
    this.exit = exit;
  }
}

/** Ends a step for which this server gives no occasion. */
export class NotApplicable extends Error {
  override readonly name = "NotApplicable";
}

/** What the work of a step may do while it runs. */
export interface StepContext {
  /** Aborted when the time is over or the user interrupts. */
  readonly signal: AbortSignal;
  /** Notes something that should be better but breaks nothing. */
  warn(code: string, cause: string, fix: string): void;
}

/** Looks at one thing, and says in a few words what it saw. Throws `BrokenLink` or `NotApplicable`. */
export type StepWork = (context: StepContext) => string | Promise<string>;

/** How a step counts. */
export interface StepRules {
  /** The exit code of a command whose first broken link is here. Default: the server cannot be reached. */
  readonly exit?: ExitCode;
  /** Whether later steps are looked at although this one is broken. Default: false. */
  readonly goesOn?: boolean;
}

/** Who is told of an examination. */
export interface CheckupListener {
  /** Called with each step when it is done. */
  onStep(step: Step): void;
  /** Takes what is secret out of a text. */
  hide(text: string): string;
}

/** A server may cause any number of warnings; these are enough to see what is wrong. */
const MOST_FINDINGS = 20;

/** The steps of one examination, in order, and the time that is left for them. */
export class Checkup {
  readonly steps: Step[] = [];
  readonly signal: AbortSignal;
  readonly #interrupted: AbortSignal;
  readonly #onStep: (step: Step) => void;
  readonly #hide: CheckupListener["hide"];
  readonly #release: () => void;
  readonly #totalMs: number;
  readonly #began = performance.now();
  #isOver = false;
  #exit: ExitCode = EXIT.ok;

  constructor(totalMs: number, interrupted: AbortSignal, { onStep, hide }: CheckupListener) {
    this.#onStep = onStep;
    this.#hide = hide;
    this.#totalMs = totalMs;
    this.#interrupted = interrupted;
    const ended = new AbortController();
    this.signal = ended.signal;
    // A timer of its own: `AbortSignal.timeout` keeps no process alive, and Node 20 may collect one that is part of `any`.
    const timer = setTimeout(() => ended.abort(), totalMs);
    const interrupt = () => ended.abort(interrupted.reason);
    if (interrupted.aborted) interrupt();
    interrupted.addEventListener("abort", interrupt, { once: true });
    this.#release = () => {
      clearTimeout(timer);
      interrupted.removeEventListener("abort", interrupt);
    };
  }

  /** Ends the measuring of time, which keeps the process alive. */
  [Symbol.dispose](): void {
    this.#release();
  }

  /** Zero if nothing is broken, else the code of the first broken link. */
  get exit(): ExitCode {
    return this.#exit;
  }

  /** The first broken link. */
  get broken(): { readonly step: string; readonly finding: Finding } | undefined {
    const step = this.steps.find(({ status }) => status === "failed");
    const finding = step?.findings.at(-1);
    return step === undefined || finding === undefined ? undefined : { step: step.step, finding };
  }

  /** Milliseconds that one step may take: most of what is left, at most `most`, so that it can say itself why it gave up. */
  budget(most = Number.POSITIVE_INFINITY): number {
    const left = this.#totalMs - (performance.now() - this.#began);
    return Math.max(1, Math.min(most, Math.floor(left * 0.8)));
  }

  /** Runs one step, unless an earlier link is broken. Rejects only when the user interrupts. */
  async step(name: string, work: StepWork, { exit = EXIT.unreachable, goesOn = false }: StepRules = {}): Promise<void> {
    if (this.#isOver) {
      return this.#record({ step: name, status: "skipped", detail: "not reached", findings: [] });
    }
    const began = performance.now();
    const findings: Finding[] = [];
    const warn = (code: string, cause: string, fix: string) => {
      if (findings.length < MOST_FINDINGS) findings.push({ code, cause, fix });
    };
    const record = (status: StepStatus, detail: string) =>
      this.#record({ step: name, status, detail, ms: Math.round(performance.now() - began), findings });
    try {
      const detail = await this.#inTime(name, async () => work({ signal: this.signal, warn }));
      record(findings.length === 0 ? "ok" : "warning", detail);
    } catch (reason) {
      if (this.#interrupted.aborted) throw reason;
      if (reason instanceof NotApplicable) return void record("skipped", reason.message);
      const link = brokenLink(reason);
      findings.push(link.finding);
      record("failed", link.finding.code.replaceAll("_", " "));
      if (this.#exit === EXIT.ok) this.#exit = link.exit ?? exit;
      this.#isOver = !goesOn || this.signal.aborted;
    }
  }

  #record({ findings, detail, ...rest }: Step): void {
    const shown = findings.map(({ cause, fix, ...more }) => ({
      ...more,
      cause: this.#hide(cause),
      fix: this.#hide(fix),
    }));
    const step: Step = { ...rest, detail: this.#hide(detail), findings: shown };
    this.steps.push(step);
    this.#onStep(step);
  }

  /** Settles with the work, or when the time of the whole examination is over. */
  #inTime<T>(name: string, work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const end = () => reject(this.#interrupted.aborted ? this.#interrupted.reason : outOfTime(name, this.#totalMs));
      if (this.signal.aborted) return end();
      this.signal.addEventListener("abort", end, { once: true });
      work()
        .then(resolve, reject)
        .finally(() => this.signal.removeEventListener("abort", end));
    });
  }
}

function outOfTime(name: string, ms: number): BrokenLink {
  return new BrokenLink(
    {
      code: "out_of_time",
      cause: `the time of ${ms} ms was over before "${name}" was done`,
      fix: "Give more time, such as --timeout 2m; if that does not help, the server does not answer.",
    },
    EXIT.unreachable,
  );
}

/** Anything that a step threw, as what is broken. */
function brokenLink(reason: unknown): BrokenLink {
  if (reason instanceof BrokenLink) return reason;
  if (McpError.is(reason)) return new BrokenLink({ code: reason.kind, cause: reason.message, fix: reason.fix });
  const cause = reason instanceof Error ? reason.message : String(reason);
  return new BrokenLink({
    code: "internal_error",
    cause,
    fix: "Run the command again with --debug, and report what it shows.",
  });
}
