import type { Mutant } from "./mutant.js";

/** Findings of reviews about wire, written back into the sources. */
export const FOUND_WIRE: readonly Mutant[] = [
  {
    name: "rejected-hook-unheard",
    recreates: "an asynchronous hook that rejects ends the process",
    file: "encoding/maybe-promise.ts",
    search: "    if (isThenable(result)) Promise.resolve(result).catch(failed);\n",
    replace: "    if (isThenable(result)) return;\n",
    tests: ["test/hooks/hooks.test.ts"],
  },
  {
    name: "trace-breaks-call",
    recreates: "a `trace` that throws makes a call fail",
    file: "client/call/caller.ts",
    search: '    callHook(warn, "trace", () => {\n      wanted = options.trace?.();\n      return wanted;\n    });\n',
    replace: "    wanted = options.trace();\n",
    tests: ["test/hooks/hooks.test.ts"],
  },
  {
    name: "stderr-hook-unguarded",
    recreates: "a `stderr` function that throws ends the process, because it is called inside a stream's event",
    file: "node/stdio/child-transport.ts",
    search: 'for (const line of lines) callHook(warn, "stderr", () => target(line));',
    replace: "for (const line of lines) target(line);",
    tests: ["test/hooks/hooks.test.ts"],
  },
  {
    name: "due-list-on-wall-clock",
    recreates: "when the clock is set back, comments on idle streams and streams for slow answers stop for that time",
    file: "transport/http/server/due-list.ts",
    search: "    const now = this.#platform.monotonic();\n    const due: T[] = [];\n",
    replace: "    const now = this.#platform.now();\n    const due: T[] = [];\n",
    tests: ["test/http/wall-clock.test.ts"],
  },
  {
    name: "call-deadline-on-wall-clock",
    recreates: "when the clock is set forward, all calls in flight time out",
    file: "client/call/pending-call.ts",
    search: "    const now = this.#platform.monotonic();\n",
    replace: "    const now = this.#platform.now();\n",
    tests: ["test/http/wall-clock.test.ts"],
  },
  {
    name: "storage-on-wall-clock",
    recreates: "when the clock is set forward, everything in a memory storage expires",
    file: "storage/memory.ts",
    search: "(clock.monotonic === undefined ? clock.now() : clock.monotonic())",
    replace: "clock.now()",
    tests: ["test/http/wall-clock.test.ts"],
  },
];
