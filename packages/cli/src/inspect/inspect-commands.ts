import { REVISIONS } from "@parley/mcp/protocol";
import type { CommandDeclaration } from "../commands/command.js";
import { TARGET_OPTIONS } from "../commands/target-options.js";

/**
 * Target options that `inspect` replaces or does not support. The page itself records and redacts messages, and waits
 * for answers without a time limit.
 */
const UNSUPPORTED_OPTIONS = /^--(?:record|redact|no-redact|timeout|revision) ?/;

/** The command that starts the inspector. */
export const INSPECT_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "inspect",
    words: "[target…]",
    summary: "try servers in the browser, and see every message",
    description:
      "Opens a page in the browser that connects to the targets. Try their tools, answer their questions, and see every message. " +
      "A module is reloaded when its files change. " +
      "URLs can be added in the page; programs and modules only on the command line. Without a target, --config connects to " +
      "every server of the file.",
    options: [
      { flags: "--port <n>", summary: "the port of the page (default: any free port)" },
      { flags: "--no-open", summary: "do not open a browser (default if stdout is not a terminal)" },
      {
        flags: "--sample-with <command>",
        summary: "the command that answers sampling requests: JSON on stdin, the answer on stdout",
      },
      { flags: "--timeout <time>", summary: "time limit for connecting, such as 500ms or 5m (default: 30s)" },
      {
        flags: "--revision <date>",
        summary: "speak this revision first; another can be chosen in the page",
        choices: REVISIONS,
      },
      ...TARGET_OPTIONS.filter(({ flags }) => !UNSUPPORTED_OPTIONS.test(flags)),
      { flags: "--json", summary: "print the address as one line of JSON" },
      { flags: "--debug", summary: "print the stacks of errors" },
    ],
    examples: [
      { line: "parley inspect ./server.ts", does: "Opens the page for the server of a module." },
      {
        line: "parley inspect http://127.0.0.1:3000/mcp -- node server.js",
        does: "Connects to a server at a URL and to a program, side by side.",
      },
      {
        line: "parley inspect --config .mcp.json --no-open",
        does: "Connects to every server of a file, and only prints the address.",
      },
    ],
    endsBySignal: true,
    load: async () => (await import("./inspect.js")).inspect,
  },
];
