import type { Check } from "./referee.js";

/** A scenario's outcome under our own, stricter rules. */
export interface Verdict {
  scenario: string;
  leg: string;
  problems: string[];
}

/** A scenario passes with at least one success of its own, no failure and no warning. */
export function judge(leg: string, scenario: string, checks: readonly Check[]): Verdict {
  const problems = checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ id, status, errorMessage, description }) => `${status} ${id}: ${errorMessage ?? description ?? ""}`);
  const own = checks.filter(({ id, status }) => status === "SUCCESS" && id !== "wire-schema-valid");
  // Without this rule a server that refuses everything would pass some scenarios.
  if (own.length === 0) problems.push("no check succeeded, so nothing was shown");
  return { scenario, leg, problems };
}
