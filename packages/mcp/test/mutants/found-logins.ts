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
  {
    name: "hook-closes-connection",
    recreates: "an error of a function that a login calls is reported as a broken connection",
    file: "auth/discovery/steps.ts",
    search: "if (McpError.is(error) || isKnown?.(error) === true) throw error;",
    replace: 'if (name !== "") throw error;',
    tests: ["test/auth/client-hooks.test.ts"],
  },
  {
    name: "hook-shows-response",
    recreates: "the cause of a failed login holds an error of a library, with the response that it read",
    file: "auth/discovery/steps.ts",
    search: "...(carriesResponse(error) ? {} : { cause: error }),",
    replace: "cause: error,",
    tests: ["test/auth/client-hooks.test.ts"],
  },
  {
    name: "failed-load-stays",
    recreates: "a token store that failed once is never asked again",
    file: "auth/discovery/steps.ts",
    search: "      result = undefined;\n      throw error;",
    replace: "      throw error;",
    tests: ["test/auth/client-hooks.test.ts"],
  },
];
