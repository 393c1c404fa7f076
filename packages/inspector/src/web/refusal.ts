import type { ShownProblem } from "../contract/connections.js";

/** Why a request is not answered. */
export interface Refusal {
  readonly status: number;
  readonly problem: ShownProblem;
}

/** Makes a refusal. Its words never repeat what the request brought. */
export function refusal(status: number, message: string, fix: string): Refusal {
  return { status, problem: { message, fix, kind: "refused" } };
}
