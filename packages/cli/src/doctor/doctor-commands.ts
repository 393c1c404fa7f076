import type { CommandDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";

/** Target options that `doctor` replaces or does not support. */
const UNSUPPORTED_OPTIONS = /--(?:timeout|record|redact|no-redact)\b/;

/** Commands that diagnose a server. */
export const DOCTOR_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "doctor",
    words: "<target>",
    summary: "find out why a server does not work",
    description:
      "Checks the connection to a server step by step (program or name, connection, certificate, HTTP, login, handshake, lists, schemas), and shows the first failure with its cause and a fix. Warnings do not change the exit code.",
    options: [
      { flags: "--timeout <time>", summary: "time limit for all steps together, such as 500ms or 5m (default: 30s)" },
      {
        flags: "--origin <origin>",
        summary: "the origin of web pages that should use the server: https://app.example",
      },
      ...TARGET_OPTIONS.filter(({ flags }) => !UNSUPPORTED_OPTIONS.test(flags)),
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      {
        line: "parley doctor https://example.com/mcp",
        does: "Checks a server at a URL, from its host name to its schemas.",
      },
      { line: "parley doctor -e API_KEY=k -- npx -y some-server", does: "Starts a program and checks it." },
      {
        line: "parley doctor ./server.ts --json",
        does: "Checks the server of a module, and prints the steps as JSON.",
      },
    ],
    load: async () => (await import("./doctor.js")).doctor,
  },
];
