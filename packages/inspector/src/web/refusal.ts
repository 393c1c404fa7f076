import type { ProblemInfo } from "../contract/connections.js";

/** The reason why a request is refused. */
export interface Refusal {
  readonly status: number;
  readonly problem: ProblemInfo;
}

/** Creates a refusal. The message must not repeat content of the request. */
export function refusal(status: number, message: string, fix: string): Refusal {
  return { status, problem: { message, fix, kind: "refused" } };
}
