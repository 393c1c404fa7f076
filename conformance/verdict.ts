import type { Check } from "./referee.js";

/** A scenario's outcome under our own, stricter rules. */
export interface Verdict {
  scenario: string;
  leg: string;
  problems: string[];
}

/** Scenarios whose checks the referee always skips, with the reason and the tests that show the same. */
export const SHOWN_BY_OWN_TESTS: Readonly<Record<string, string>> = {
  "tasks-status-notifications":
    "this release of the referee cannot listen by `subscriptions/listen`; scenarios/cases/tasks-listen.ts does",
};

/** A scenario passes with at least one success of its own, no failure and no warning. */
export function judge(leg: string, scenario: string, checks: readonly Check[]): Verdict {
  const problems = checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ id, status, errorMessage, description }) => `${status} ${id}: ${errorMessage ?? description ?? ""}`);
  if (Object.hasOwn(SHOWN_BY_OWN_TESTS, scenario) && checks.every(({ status }) => status === "SKIPPED")) {
    return { scenario, leg, problems };
  }
  const own = checks.filter(({ id, status }) => status === "SUCCESS" && id !== "wire-schema-valid");
  // Without this rule a server that refuses everything would pass some scenarios.
  if (own.length === 0) problems.push("no check succeeded, so nothing was shown");
  return { scenario, leg, problems };
}
