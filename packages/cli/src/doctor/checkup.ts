import { McpError } from "@parley/mcp";
import { EXIT, type ExitCode } from "../terminal/exit-code.js";

/** The outcome of one step. `warning` means that the step succeeded, but found problems. */
export type StepStatus = "ok" | "warning" | "failed" | "skipped";

/** A problem that a step found. `code` is stable, for programs. */
export interface Finding {
  readonly code: string;
  readonly cause: string;
  readonly fix: string;
  /** The server's output on stderr, oldest line first. */
  readonly stderr?: readonly string[];
  /** The requests that were sent to find a way to log in, in order. */
  readonly tried?: readonly string[];
}

/** One step of a checkup. */
export interface Step {
  readonly step: string;
  readonly status: StepStatus;
  /** The result in a few words, or the reason why the step was skipped. */
  readonly detail: string;
  readonly ms?: number;
  readonly findings: readonly Finding[];
}

/** Thrown by a step that failed. */
export class CheckFailure extends Error {
  override readonly name = "CheckFailure";
  readonly finding: Finding;
  readonly exit: ExitCode | undefined;

  constructor(finding: Finding, exit?: ExitCode) {
    super(finding.cause);
    this.finding = finding;
    this.exit = exit;
  }
}

/** Thrown by a step that does not apply to this server. */
export class NotApplicable extends Error {
  override readonly name = "NotApplicable";
}

/** The context of a running step. */
export interface StepContext {
  /** Aborted when the time for the checkup is up or the user interrupts. */
  readonly signal: AbortSignal;
  /** Records a problem that does not make the step fail. */
  warn(code: string, cause: string, fix: string): void;
}

/** Runs one check and describes the result in a few words. Throws `CheckFailure` or `NotApplicable`. */
export type StepWork = (context: StepContext) => string | Promise<string>;

/** The effect of a failed step on the rest of the checkup. */
export interface StepRules {
  /** The exit code if this is the first step that fails. Default: `EXIT.unreachable`. */
  readonly exit?: ExitCode;
  /** True if later steps run even if this one fails. Default: false. */
  readonly continues?: boolean;
}

/** Callbacks of a checkup. */
export interface CheckupListener {
  /** Called with each finished step. */
  onStep(step: Step): void;
  /** Removes secrets from a text. */
  redact(text: string): string;
}

/** Maximum number of warnings recorded per step; further ones are dropped. A server may cause any number. */
const MAX_FINDINGS = 20;

/** Runs the steps of one diagnosis in order, within a total time. */
export class Checkup {
  readonly steps: Step[] = [];
  readonly signal: AbortSignal;
  readonly #interrupted: AbortSignal;
  readonly #onStep: (step: Step) => void;
  readonly #redact: CheckupListener["redact"];
  readonly #release: () => void;
  readonly #totalMs: number;
  readonly #began = performance.now();
  #hasEnded = false;
  #exit: ExitCode = EXIT.ok;

  constructor(totalMs: number, interrupted: AbortSignal, { onStep, redact }: CheckupListener) {
    this.#onStep = onStep;
    this.#redact = redact;
    this.#totalMs = totalMs;
    this.#interrupted = interrupted;
    const ended = new AbortController();
    this.signal = ended.signal;
    // Not `AbortSignal.timeout`: its timer does not keep the process alive, and Node 20 may garbage-collect the signal
    // inside `AbortSignal.any`.
    const timer = setTimeout(() => ended.abort(), totalMs);
    const interrupt = () => ended.abort(interrupted.reason);
    if (interrupted.aborted) interrupt();
    interrupted.addEventListener("abort", interrupt, { once: true });
    this.#release = () => {
      clearTimeout(timer);
      interrupted.removeEventListener("abort", interrupt);
    };
  }

  /** Stops the timer, which would otherwise keep the process alive. */
  [Symbol.dispose](): void {
    this.#release();
  }

  /** The exit code of the first failed step, or 0. */
  get exit(): ExitCode {
    return this.#exit;
  }

  /** The first failed step and its finding. Undefined if no step failed. */
  get broken(): { readonly step: string; readonly finding: Finding } | undefined {
    const step = this.steps.find(({ status }) => status === "failed");
    const finding = step?.findings.at(-1);
    return step === undefined || finding === undefined ? undefined : { step: step.step, finding };
  }

  /**
   * Milliseconds that one step may take: 80 % of the remaining time, at most `most`. The step needs the other 20 % to
   * report why it gave up.
   */
  budget(most = Number.POSITIVE_INFINITY): number {
    const left = this.#totalMs - (performance.now() - this.#began);
    return Math.max(1, Math.min(most, Math.floor(left * 0.8)));
  }

  /** Runs one step, or skips it after a failure. Rejects only when the user interrupts. */
  async step(
    name: string,
    work: StepWork,
    { exit = EXIT.unreachable, continues = false }: StepRules = {},
  ): Promise<void> {
    if (this.#hasEnded) {
      return this.#record({ step: name, status: "skipped", detail: "not reached", findings: [] });
    }
    const began = performance.now();
    const findings: Finding[] = [];
    const warn = (code: string, cause: string, fix: string) => {
      if (findings.length < MAX_FINDINGS) findings.push({ code, cause, fix });
    };
    const record = (status: StepStatus, detail: string) =>
      this.#record({ step: name, status, detail, ms: Math.round(performance.now() - began), findings });
    try {
      const detail = await this.#inTime(name, async () => work({ signal: this.signal, warn }));
      record(findings.length === 0 ? "ok" : "warning", detail);
    } catch (reason) {
      if (this.#interrupted.aborted) throw reason;
      if (reason instanceof NotApplicable) return void record("skipped", reason.message);
      const failure = toCheckFailure(reason);
      findings.push(failure.finding);
      record("failed", failure.finding.code.replaceAll("_", " "));
      if (this.#exit === EXIT.ok) this.#exit = failure.exit ?? exit;
      this.#hasEnded = !continues || this.signal.aborted;
    }
  }

  #record({ findings, detail, ...rest }: Step): void {
    const shown = findings.map(({ cause, fix, ...more }) => ({
      ...more,
      cause: this.#redact(cause),
      fix: this.#redact(fix),
    }));
    const step: Step = { ...rest, detail: this.#redact(detail), findings: shown };
    this.steps.push(step);
    this.#onStep(step);
  }

  /** Settles like `work`, or rejects when the time for the whole checkup is up or the user interrupts. */
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

function outOfTime(name: string, ms: number): CheckFailure {
  return new CheckFailure(
    {
      code: "out_of_time",
      cause: `the time limit of ${ms} ms was reached during the step "${name}"`,
      fix: "Allow more time: --timeout 2m. If that does not help, the server does not answer.",
    },
    EXIT.unreachable,
  );
}

/** Converts a value that a step threw to a `CheckFailure`. */
function toCheckFailure(reason: unknown): CheckFailure {
  if (reason instanceof CheckFailure) return reason;
  if (McpError.is(reason)) return new CheckFailure({ code: reason.kind, cause: reason.message, fix: reason.fix });
  const cause = reason instanceof Error ? reason.message : String(reason);
  return new CheckFailure({
    code: "internal_error",
    cause,
    fix: "Run the command again with --debug, and report its output.",
  });
}
