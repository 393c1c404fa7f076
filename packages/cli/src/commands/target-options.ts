import { REVISIONS } from "@parley/mcp/protocol";
import type { OptionDeclaration } from "./command.js";

/** Options of every command that connects to a server. `openTarget` reads them. */
export const TARGET_OPTIONS: readonly OptionDeclaration[] = [
  { flags: "--config <file>", summary: "the file with `mcpServers` in which a name is looked up" },
  { flags: "--input <pair>", summary: "a value for an input of the file: `name=value`", many: true },
  { flags: "-H, --header <line>", summary: "sent with every HTTP request: `Name: value`", many: true },
  { flags: "-e, --env <pair>", summary: "a variable for the program behind `--`: `NAME=value`", many: true },
  { flags: "--cwd <folder>", summary: "the folder in which the program behind `--` starts" },
  {
    flags: "--grant <kind>",
    summary: "get a token as a program, with the client below, and without a login",
    choices: ["client-credentials"],
  },
  { flags: "--client-id <id>", summary: "the id of the client that --grant is for" },
  { flags: "--client-secret-env <name>", summary: "the variable with that client's secret" },
  { flags: "--scope <scope>", summary: "a scope to ask for with --grant", many: true },
  {
    flags: "--timeout <time>",
    summary: "how long to wait for the connection (30s) and for each answer (60s): 500ms, 5m",
  },
  { flags: "--revision <date>", summary: "speak this revision of the protocol alone", choices: REVISIONS },
  { flags: "--record <file>", summary: "write every message to a file that `parley replay` reads" },
  { flags: "--redact <regex>", summary: "leave out of the recording what this matches, too", many: true },
  { flags: "--no-redact", summary: "record secrets as well" },
];

/** Options of every command that gives an answer. */
export const OUTPUT_OPTIONS: readonly OptionDeclaration[] = [
  { flags: "--json", summary: "answer in JSON, for programs" },
  { flags: "--debug", summary: "show every message and the stack of errors on stderr" },
];
