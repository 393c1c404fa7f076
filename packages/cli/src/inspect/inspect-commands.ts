import { REVISIONS } from "@parley/mcp/protocol";
import type { CommandDeclaration } from "../commands/command.js";
import { TARGET_OPTIONS } from "../commands/target-options.js";

/** The page shows, records and redacts by itself; and waits for answers as long as the person before it does. */
const UNFIT = /^--(?:record|redact|no-redact|timeout|revision) ?/;

/** The command that opens the inspector. */
export const INSPECT_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "inspect",
    words: "[target…]",
    summary: "try servers in the browser, and see every message",
    description:
      "Opens a page on this machine that connects to the targets, tries what they offer, answers what they ask, and shows every " +
      "message. Addresses can be added in the page; programs and modules come from the command line alone. Without a target, " +
      "--config connects to every server of the file.",
    options: [
      { flags: "--port <n>", summary: "the port of the page; a free one unless given" },
      { flags: "--no-open", summary: "only print the address; a browser is opened where stdout is a terminal" },
      {
        flags: "--sample-with <command>",
        summary: "can answer questions to a model: JSON on stdin, the answer on stdout",
      },
      { flags: "--timeout <time>", summary: "how long to wait for a connection (30s): 500ms, 5m" },
      {
        flags: "--revision <date>",
        summary: "speak this revision first; another can be chosen in the page",
        choices: REVISIONS,
      },
      ...TARGET_OPTIONS.filter(({ flags }) => !UNFIT.test(flags)),
      { flags: "--json", summary: "print the address in JSON, on one line" },
      { flags: "--debug", summary: "show the stack of errors" },
    ],
    examples: [
      { line: "parley inspect ./server.ts", does: "Opens the page for the server of a module." },
      {
        line: "parley inspect http://127.0.0.1:3000/mcp -- node server.js",
        does: "Connects to a server at a URL and to a program, side by side.",
      },
      { line: "parley inspect --config .mcp.json --no-open", does: "Every server of a file; prints the address." },
    ],
    endsBySignal: true,
    load: async () => (await import("./inspect.js")).inspect,
  },
];
