import type { Challenge } from "../discovery/challenge.js";
import type { Discovered } from "../discovery/discover.js";
import type { Steps } from "../discovery/steps.js";

/** Whether the next token is to be bound to a key: where the program, the server or its metadata asks for it and both sides can. */
export function wantsDpop(
  setting: boolean | "auto",
  { server, requiresDpop }: Discovered,
  challenge: Challenge | undefined,
  steps: Steps,
): boolean {
  const isAsked = setting === true || (setting === "auto" && (requiresDpop || challenge?.scheme === "dpop"));
  const algorithms = server.dpop_signing_alg_values_supported;
  if (!isAsked || algorithms === undefined || algorithms.includes("ES256")) return isAsked;
  steps.note("proof of possession", `the server supports ${algorithms.join(", ").slice(0, 200)}, not ES256`);
  return false;
}
