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
  {
    name: "outage-ends-the-wait",
    recreates: "host M3: a client gives up a task when the server says that its storage is away for now",
    file: "extensions/tasks/followed/task-outcome.ts",
    search: "(TRANSIENT.has(error.kind) || retryAfterOf(error) !== undefined)",
    replace: "TRANSIENT.has(error.kind)",
    tests: ["test/extensions/tasks/storage-outage.test.ts"],
  },
  {
    name: "outage-loses-an-answer",
    recreates: "host M3: an answer that cannot be stored at once is dropped, and the user is asked again",
    file: "extensions/tasks/task-results.ts",
    search: "if (left === 0 || this.#runner.isClosed || !isStorageUnavailable(error)) throw error;",
    replace: "if (left >= 0) throw error;",
    tests: ["test/extensions/tasks/storage-outage.test.ts"],
  },
  {
    name: "failed-task-without-hint",
    recreates: "newcomer M10: the error of a task that cannot be resumed does not name the option that allows it",
    file: "extensions/tasks/stored/task-record.ts",
    search: "set `task: { retry: n }` if its steps are safe to repeat",
    replace: "see the documentation",
    tests: ["test/extensions/tasks/take-over.test.ts"],
  },
  {
    name: "skills-at-one-level",
    recreates: "field nested-skills: folders between the given folder and a skill are refused",
    file: "extensions/skills/read-skill-folder.ts",
    search: "const found = this.#below(whole, path, inside);",
    replace: "const found: SkillOffer[] = [];",
    tests: ["test/extensions/skills/nested-skills.test.ts"],
  },
  {
    name: "nested-skill-left-out",
    recreates:
      "field nested-skills: the entry of a skill does not list the files of a skill that is served inside of it",
    file: "extensions/skills/served-skill.ts",
    search: "if (outer !== undefined) checkNested(skill, outer);",
    replace: "",
    tests: ["test/extensions/skills/nested-skills.test.ts"],
  },
  {
    name: "requirement-unchecked",
    recreates: "field requires: an extension runs without the one that it requires",
    file: "protocol/extension.ts",
    search: "requires.filter((required) => !ids.has(required))",
    replace: "requires.filter((required) => required === id)",
    tests: ["test/extensions/requires.test.ts"],
  },
  {
    name: "streams-not-tapped",
    recreates:
      "field notification-middleware: middleware of a server does not see what it sends on the stream of a request",
    file: "server/call/middleware.ts",
    search: "      tap(exchange, exchange.id);\n",
    replace: "",
    tests: ["test/scenarios/scenarios.test.ts"],
  },
  {
    name: "client-notifications-not-tapped",
    recreates: "field notification-middleware: middleware of a client does not see what the server sends",
    file: "client/assemble.ts",
    search: "  if (notifications.length === 0) return receive(core, message, about);\n",
    replace: "  if (notifications.length >= 0) return receive(core, message, about);\n",
    tests: ["test/scenarios/scenarios.test.ts"],
  },
];
