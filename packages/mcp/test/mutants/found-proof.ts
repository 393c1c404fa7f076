import type { Mutant } from "./mutant.js";

/** Findings of reviews about runtimes, examples and measurements, written back into the sources. */
export const FOUND_PROOF: readonly Mutant[] = [
  {
    name: "second-argument-is-body",
    recreates: "a handler that takes the object which Bun, Deno, Workers and Next pass for a parsed body",
    file: "transport/http/fetch-core.ts",
    search: 'return isObject(context) && Object.hasOwn(context, "parsedBody") ? context["parsedBody"] : undefined;',
    replace: "return isObject(context) ? context : undefined;",
    tests: ["test/http/second-argument.test.ts"],
  },
  {
    name: "endless-in-the-core-only",
    recreates: "a drain that waits for the endless request of an extension",
    file: "era/select/accepting.ts",
    search: "endless: row?.deadlineExempt === true",
    replace: 'endless: message.method === "subscriptions/listen"',
    tests: ["test/http/endless-extension.test.ts"],
  },
  {
    name: "old-node-fails-later",
    recreates: "a Node that is too old and fails at the first call, with a message about something else",
    file: "node/builtin.ts",
    search: "if (isTooOld(own.versions)) throw noBuiltins(own.versions?.node);",
    replace: "",
    tests: ["src/node/builtin.test.ts"],
  },
  {
    name: "comments-are-collected",
    recreates: "a client that grows by what a stream of comments sends, although nobody reads it",
    file: "transport/framing/sse-decoder.ts",
    search: "this.#sink.comment === undefined ? this.#withoutComments(withNewlines) : withNewlines",
    replace: "withNewlines",
    tests: ["src/transport/framing/sse.test.ts"],
  },
  {
    name: "drain-forgets-late-answers",
    recreates: "a drain that ends while a slow storage still holds an answer",
    file: "transport/http/server/exchange.ts",
    search: "if (!this.#complete || this.#streaming || !this.#unfinished) return;",
    replace: "if (!this.#complete || !this.#unfinished) return;",
    tests: ["test/simulation/regressions.test.ts"],
  },
];
