import type { Mutant } from "./mutant.js";

/** Findings of reviews about client safety, written back into the sources. */
export const FOUND_CLIENT_SAFETY: readonly Mutant[] = [
  {
    name: "question-before-handshake",
    recreates: "a question is put to the user before anybody knows who asks",
    file: "client/answers/server-requests.ts",
    search: "    const { asking } = this.#connection;\n",
    replace:
      "    const asking = (this.#connection.asking ?? { era: { answer: (_: string, answer: object) => answer }, asker: {} }) as never as typeof this.#connection.asking;\n",
    tests: ["test/client/questions-refused.test.ts"],
  },
  {
    name: "question-id-taken-twice",
    recreates: "a question id that is in use is taken again, past the limit of questions",
    file: "client/answers/server-requests.ts",
    search: "    if (this.#asked.has(id)) return",
    replace: "    if (this.#asked.size < 0) return",
    tests: ["test/client/questions-refused.test.ts"],
  },
  {
    name: "held-deadline-of-all-calls",
    recreates: "a question that is never answered turns off the idle deadline of later calls",
    file: "client/call/pending-call.ts",
    search: "    return paused > 0 ? latest",
    replace: "    return paused > 0 || [...this.waiting].some((other) => other.paused > 0) ? latest",
    tests: ["test/client/questions-refused.test.ts", "src/client/call/pending-call.test.ts"],
  },
  {
    name: "handler-that-hangs-never-answered",
    recreates: "a question whose handler never settles is never answered",
    file: "client/answers/answerer.ts",
    search: "        reject(late);\n",
    replace: "",
    tests: ["test/client/questions-refused.test.ts"],
  },
  {
    name: "elicitation-page-unchecked",
    recreates: "javascript:, file: and credentials in the address of a page reach the application",
    file: "client/answers/elicitation.ts",
    search: "  else if (!isWebAddress(url))",
    replace: '  else if (typeof url !== "string")',
    tests: ["test/client/questions-refused.test.ts"],
  },
  {
    name: "icon-address-unchecked",
    recreates: "icons with any address reach the application",
    file: "protocol/results.ts",
    search: "icons: arrayOf(anIcon)",
    replace: "icons: anArray",
    tests: ["test/client/client-mistakes.test.ts"],
  },
  {
    name: "elicitation-mode-unchecked",
    recreates: "an elicitation of an unknown mode is shown as a form",
    file: "client/answers/elicitation.ts",
    search: '  } else if (mode !== "url") throw',
    replace: '  } else if (mode === "") throw',
    tests: ["test/client/questions-refused.test.ts"],
  },
  {
    name: "application-failure-told-to-server",
    recreates: "what `onElicit` throws is told to the server and its model, and not to the developer",
    file: "client/answers/answerer.ts",
    search: 'const OWN_FAULTS: ReadonlySet<string> = new Set(["misuse",',
    replace: "const OWN_FAULTS: ReadonlySet<string> = new Set([",
    tests: ["test/client/questions-refused.test.ts"],
  },
  {
    name: "log-level-unchecked",
    recreates: 'setLogLevel("warn") makes all later calls fail',
    file: "client/features/log-level.ts",
    search: "  checkLogLevel(level);\n",
    replace: "",
    tests: ["test/client/client-mistakes.test.ts"],
  },
];
