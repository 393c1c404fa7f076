import type { Mutant } from "./mutant.js";

/** Findings of new users, and those of the attack that nobody else holds, written back into the sources. */
export const FOUND_NEWCOMER: readonly Mutant[] = [
  {
    name: "warning-obeyed-by-terminal",
    recreates: "text of a peer in a warning moves the cursor or forges a line of the log",
    file: "node/platform.ts",
    search: "printableMessage(message)",
    replace: "message",
    tests: ["src/platform/default.test.ts"],
  },
  {
    name: "early-output-unnoticed",
    recreates: "output before `serveStdio` breaks the first message, and nobody tells the author",
    file: "node/stdio/stdio-server.ts",
    search: "  if (before > 0) process.stderr.write(tooEarly(before));\n",
    replace: "",
    tests: ["test/newcomer/programs.test.ts"],
  },
  {
    name: "misuse-told-to-callers-only",
    recreates: "a result that cannot be sent is told to the caller, and the server's log is silent",
    file: "server/call/endpoint.ts",
    search: 'if (error.kind === "misuse") call.config',
    replace: "if (false) call.config",
    tests: ["test/newcomer/handlers.test.ts"],
  },
  {
    name: "tls-numbers-for-plain-http",
    recreates: "https to a server without TLS ends in the words of a TLS library",
    file: "transport/http/client/failure.ts",
    search: "const plain = /wrong.version.number/i.test(reason);",
    replace: "const plain = false;",
    tests: ["test/newcomer/addresses.test.ts"],
  },
  {
    name: "invalid-date-becomes-null",
    recreates: "a date that is not valid is sent as null in silence",
    file: "encoding/plain-json.ts",
    search: 'if (held === null) return value instanceof Date ? { path, what: "an invalid Date" } : undefined;',
    replace: "if (held === null) return undefined;",
    tests: ["src/server/tools/result.test.ts"],
  },
];
