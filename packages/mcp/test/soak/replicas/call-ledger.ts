import { McpError } from "@parley/mcp";

/** One call of a lane, from its beginning to its one outcome. */
export interface LedgerCall {
  readonly nonce: string;
  readonly principal: string;
  readonly tool: string;
  /** Whether it may be run more than once. */
  readonly mayRepeat: boolean;
  readonly by: string;
  outcome?: { readonly answer: string } | { readonly error: string; readonly says: string };
  endedAt?: number;
  settled: number;
  /** True when its client had left, and was told that it cannot come back for the answer. */
  announced?: boolean;
}

/** What the lines of the replicas and the calls come to, side by side. */
export interface LedgerCounts {
  made: number;
  answered: number;
  /** Calls without an outcome. */
  open: number;
  settledTwice: number;
  /** Answers that no run gave to this call. */
  wrong: number;
  /** Calls that may run once and ran more often. */
  repeated: number;
  /** Calls that end with an error although their replica came to an answer and lived on. */
  lostAnswers: number;
  untyped: number;
  foreign: number;
  wrongWords: number;
  stepsTwice: number;
  refused: Record<string, number>;
  problems: string[];
}

const SECRET = /secret-of-([\w-]+)/g;
/** A replica that is killed within this time after an answer may have taken it along. */
const ON_THE_WAY_MS = 1_500;
const MAX_PROBLEMS = 12;

/** All calls of a lane, whoever makes them. */
export class CallLedger {
  readonly calls = new Map<string, LedgerCall>();
  foreign = 0;
  #next = 0;
  readonly #problems: string[] = [];

  begin(by: string, principal: string, tool: string, mayRepeat: boolean): LedgerCall {
    const call: LedgerCall = {
      nonce: `n${++this.#next}.${principal}`,
      principal,
      tool,
      mayRepeat,
      by,
      settled: 0,
    };
    this.calls.set(call.nonce, call);
    return call;
  }

  /** Looks for secrets of others in anything that a principal was told. */
  told(principal: string, text: string): void {
    for (const [, owner] of text.matchAll(SECRET)) {
      if (owner === principal) continue;
      this.foreign++;
      this.problem(`${principal} was told the secret of ${owner}: ${text.slice(0, 100)}`);
    }
  }

  answered(call: LedgerCall, answer: string): void {
    this.told(call.principal, answer);
    this.#settle(call, { answer });
  }

  failed(call: LedgerCall, error: unknown, typed = McpError.is(error)): void {
    const kind = McpError.is(error) ? error.kind : typed ? "official client" : "untyped";
    if (!typed) this.problem(`${call.nonce} ${call.tool} of ${call.by} failed with ${String(error)}`);
    this.told(call.principal, String(error));
    this.#settle(call, { error: kind, says: String(error).slice(0, 200) });
  }

  problem(text: string): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(text);
  }

  #settle(call: LedgerCall, outcome: NonNullable<LedgerCall["outcome"]>): void {
    call.settled++;
    call.outcome ??= outcome;
    call.endedAt ??= Date.now();
  }

  /** Compares with what the replicas have noted. `killedAt` gives when a process was killed. */
  count(lines: string, killedAt: (pid: number) => number | undefined): LedgerCounts {
    const noted = readLines(lines);
    const counts: LedgerCounts = {
      ...{ made: this.calls.size, answered: 0, open: 0, settledTwice: 0, wrong: 0, repeated: 0, lostAnswers: 0 },
      ...{ untyped: 0, foreign: this.foreign, wrongWords: noted.wrong, stepsTwice: noted.stepsTwice },
      refused: {},
      problems: this.#problems,
    };
    for (const call of this.calls.values()) this.#judge(call, noted.runs.get(call.nonce) ?? [], killedAt, counts);
    for (const nonce of noted.runs.keys()) if (!this.calls.has(nonce)) counts.wrong++;
    return counts;
  }

  #judge(
    call: LedgerCall,
    runs: readonly Run[],
    killedAt: (pid: number) => number | undefined,
    counts: LedgerCounts,
  ): void {
    const name = `${call.nonce} ${call.tool} of ${call.by}`;
    if (call.settled > 1) counts.settledTwice++;
    if (runs.length > 1 && !call.mayRepeat) {
      counts.repeated++;
      this.problem(`${name} ran ${runs.length} times`);
    }
    if (call.outcome === undefined) {
      counts.open++;
      this.problem(`${name} has no outcome`);
    } else if ("answer" in call.outcome) {
      counts.answered++;
      const { answer } = call.outcome;
      const secret = `secret-of-${call.principal}`;
      const right =
        call.tool === "task"
          ? answer === `${call.nonce} task ${secret}`
          : runs.some(({ run, endedAt }) => endedAt !== undefined && answer === `${call.nonce} ${run} ${secret}`);
      if (right) return;
      counts.wrong++;
      this.problem(`${name} was answered with ${answer.slice(0, 120)}`);
    } else {
      const { error, says } = call.outcome;
      if (error === "untyped") counts.untyped++;
      counts.refused[error] = (counts.refused[error] ?? 0) + 1;
      const lost = runs.find(({ pid, endedAt = Number.POSITIVE_INFINITY }) => {
        const killed = killedAt(pid) ?? Number.POSITIVE_INFINITY;
        return endedAt < (call.endedAt ?? 0) && killed - endedAt > ON_THE_WAY_MS;
      });
      if (lost === undefined || call.announced === true) return;
      counts.lostAnswers++;
      this.problem(`${name} ended by ${error} (${says}) although run ${lost.run} had its answer and went on`);
    }
  }
}

interface Run {
  readonly run: string;
  readonly pid: number;
  endedAt?: number;
}

function readLines(lines: string): { runs: Map<string, Run[]>; wrong: number; stepsTwice: number } {
  const runs = new Map<string, Run[]>();
  const steps = new Set<string>();
  let wrong = 0;
  let stepsTwice = 0;
  for (const line of lines.split("\n")) {
    const [word, nonce = "", what = "", more = ""] = line.split(" ");
    if (word === "run") runs.set(nonce, [...(runs.get(nonce) ?? []), { run: what, pid: Number(more) }]);
    else if (word === "end") {
      const run = runs.get(nonce)?.find((one) => one.run === what);
      if (run !== undefined) run.endedAt = Number(more);
    } else if (word === "wrong") wrong++;
    else if (word === "step") {
      if (steps.has(line)) stepsTwice++;
      steps.add(line);
    }
  }
  return { runs, wrong, stepsTwice };
}
