import type { Mutant } from "./mutant.js";

/** Defects of logins, and of connecting to servers that fail, that were found once, written back into the sources. */
export const FOUND_LOGINS: readonly Mutant[] = [
  {
    name: "overload-refuses-version",
    recreates: "a server that answers the handshake with 503 is reported as one of another revision",
    file: "era/negotiate/refusal.ts",
    search: "(status >= 500 || status === 429) && !isModernError(error)",
    replace: "status === 0 && !isModernError(error)",
    tests: ["test/client/connect-failing.test.ts"],
  },
];
