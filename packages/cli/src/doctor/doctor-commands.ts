import type { CommandDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";

/** Options of other commands that mean something else here, or nothing. */
const NOT_HERE = /--(?:timeout|record|redact|no-redact)\b/;

/** Commands that find out why a server does not work. */
export const DOCTOR_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "doctor",
    words: "<target>",
    summary: "find out why a server does not work",
    description:
      "Walks the way to a server step by step (program or name, connection, certificate, HTTP, login, handshake, lists, schemas), and shows the first broken link with its cause and its fix. Warnings do not fail.",
    options: [
      { flags: "--timeout <time>", summary: "how long the whole may take: 500ms, 30s, 5m; 30s unless given" },
      {
        flags: "--origin <origin>",
        summary: "the origin of the pages that are to use the server: https://app.example",
      },
      ...TARGET_OPTIONS.filter(({ flags }) => !NOT_HERE.test(flags)),
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      {
        line: "parley doctor https://example.com/mcp",
        does: "Examines a server at a URL, from its name to its schemas.",
      },
      { line: "parley doctor -e API_KEY=k -- npx -y some-server", does: "Starts a program and examines it." },
      { line: "parley doctor ./server.ts --json", does: "Gives the steps of a module's server as data." },
    ],
    load: async () => (await import("./doctor.js")).doctor,
  },
];
