import type { Mutant } from "./mutant.js";

/** Findings of reviews about calls, written back into the sources. */
export const FOUND_CALLS: readonly Mutant[] = [
  {
    name: "slow-step-runs-twice",
    recreates: "defect D3: the questions go out while a step still runs, and the next round runs it again",
    file: "server/questions/by-replay.ts",
    search: "    if (this.#stepsInFlight.size > 0) await this.#stepsToEnd();\n",
    replace: "",
    tests: ["test/questions/slow-steps.test.ts"],
  },
  {
    name: "unfinished-step-forgotten",
    recreates: "defect D3: a step that does not end is left out of the state instead of failing the call",
    file: "server/questions/by-replay.ts",
    search: "      this.#call.abort(late);\n      throw late;\n",
    replace: "      this.#call.abort(late);\n",
    tests: ["test/questions/slow-steps.test.ts"],
  },
  {
    name: "mounted-call-id",
    recreates: "defect D4: the call id of a mounted server differs in every round",
    file: "server/call/server-call.ts",
    search: "this.#callId ??= this.outer?.callId ?? this.facts.randomId();",
    replace: "this.#callId ??= this.facts.randomId();",
    tests: ["test/scenarios/scenarios.test.ts"],
  },
  {
    name: "middleware-swallows-question",
    recreates: "defect D6: what middleware makes of an interim result is sent as a complete result",
    file: "server/call/dispatch.ts",
    search: "          call.interim = interim;\n",
    replace: "",
    tests: ["test/scenarios/scenarios.test.ts"],
  },
  {
    name: "middleware-returns-nothing",
    recreates: "newcomer B10: middleware without a return is blamed on somebody else",
    file: "server/middleware.ts",
    search: 'if (typeof result === "object" && result !== null) return result;',
    replace: 'if (typeof result !== "string") return result as object;',
    tests: ["src/server/middleware.test.ts"],
  },
  {
    name: "strangers-read-errors",
    recreates: "attack F14: the text of an unexpected error goes to whoever calls",
    file: "server/call/call-failure.ts",
    search: "if ((principal ?? peer?.principal) !== undefined || peer?.remote === true) return true;",
    replace: "if (http === undefined || http !== undefined) return false;",
    tests: ["test/errors/unexpected-errors.test.ts"],
  },
  {
    name: "proxied-strangers-read-errors",
    recreates: "attack F14: a stranger behind a proxy on this machine counts as local",
    file: "server/call/call-failure.ts",
    search: 'return !local || http.header("x-forwarded-for") !== undefined || http.header("forwarded") !== undefined;',
    replace: "return !local;",
    tests: ["test/errors/unexpected-errors.test.ts"],
  },
  {
    name: "stack-is-nowhere",
    recreates: "newcomer B1: the stack of an unexpected error is neither sent nor printed",
    file: "server/call/call-failure.ts",
    search: "traceOf(error)}",
    replace: "thrownMessage(error)}",
    tests: ["test/errors/unexpected-errors.test.ts"],
  },
];
