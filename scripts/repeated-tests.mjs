// A reporter of vitest: names the tests that passed only when they were repeated, so that a retry hides nothing.
//
// Only the project `timing` repeats. The list is printed, and written for `scripts/test.mjs`, which prints it last.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export const REPEATED_TESTS = join(resolve(import.meta.dirname, ".."), "node_modules/.cache/parley/repeated.json");

export default class RepeatedTests {
  #repeated = [];

  onTestCaseResult(test) {
    const { retryCount = 0 } = test.diagnostic() ?? {};
    if (retryCount === 0) return;
    const [error] = test.result().errors ?? [];
    this.#repeated.push({
      test: `${test.module.relativeModuleId} > ${test.fullName}`,
      times: retryCount,
      because: error?.message?.split("\n")[0] ?? "no reason is known",
    });
  }

  onTestRunEnd() {
    mkdirSync(dirname(REPEATED_TESTS), { recursive: true });
    writeFileSync(REPEATED_TESTS, JSON.stringify(this.#repeated));
    for (const line of describeRepeated(this.#repeated)) console.log(line);
  }
}

export function describeRepeated(repeated) {
  return repeated.map(
    ({ test, times, because }) => `repeated ${times} time${times > 1 ? "s" : ""}: ${test} (${because})`,
  );
}
