import type { Mutant } from "./mutant.js";

/** Defects of tasks, skills and recordings that were found once, written back into the sources. */
export const FOUND_EXTENSIONS: readonly Mutant[] = [
  {
    name: "replay-repeats-changes",
    recreates:
      "host H1: a replayed server sends a recorded change with every equal request, and whoever lists on it spins",
    file: "recording/replayed-server.ts",
    search: "    if (!this.#sent.has(step) && send()) this.#sent.add(step);\n",
    replace: "    if (send()) this.#sent.add(step);\n",
    tests: ["test/recording/replay-changes.test.ts"],
  },
  {
    name: "folder-taken-for-a-password",
    recreates: "host M2: the current folder is left out of recordings, because its variable is called `PWD`",
    file: "recording/redactor.ts",
    search: '  return !(FOLDER_NAME.test(name) && typeof value === "string" && ABSOLUTE_PATH.test(value));\n',
    replace: "  return true;\n",
    tests: ["src/recording/redactor.test.ts"],
  },
  {
    name: "path-taken-for-a-secret",
    recreates: "host M2: the path of a file of credentials is left out of recordings as if it were a secret",
    file: "packages/cli/src/target/target-secrets.ts",
    search: "(isAbsolute(value) && existsSync(value))",
    replace: "(isAbsolute(value) && false)",
    tests: ["packages/cli/test/recording/record-option.test.ts"],
  },
];
