import { REVISIONS } from "@parley/mcp/protocol";
import type { OptionDeclaration } from "./command.js";

/** Options of every command that connects to a server. `openTarget` reads them. */
export const TARGET_OPTIONS: readonly OptionDeclaration[] = [
  { flags: "--config <file>", summary: "the configuration file in which a server name is looked up" },
  { flags: "--input <pair>", summary: "a value for an input of the configuration file: `name=value`", many: true },
  { flags: "-H, --header <line>", summary: "a header for every HTTP request: `Name: value`", many: true },
  {
    flags: "-e, --env <pair>",
    summary: "an environment variable for the program behind `--`: `NAME=value`",
    many: true,
  },
  { flags: "--cwd <folder>", summary: "the working directory of the program behind `--`" },
  {
    flags: "--grant <kind>",
    summary: "get a token as a program, without a login; needs --client-id",
    choices: ["client-credentials"],
  },
  { flags: "--client-id <id>", summary: "the client id for --grant" },
  { flags: "--client-secret-env <name>", summary: "the environment variable with the client secret" },
  { flags: "--scope <scope>", summary: "a scope to request with --grant", many: true },
  {
    flags: "--timeout <time>",
    summary: "time limit, such as 500ms or 5m, for connecting (default: 30s) and for each answer (default: 60s)",
  },
  { flags: "--revision <date>", summary: "speak only this revision of the protocol", choices: REVISIONS },
  { flags: "--record <file>", summary: "record every message in a file for `parley replay`" },
  { flags: "--redact <regex>", summary: "also redact matches of this expression in the recording", many: true },
  { flags: "--no-redact", summary: "do not redact secrets in the recording" },
];

/** Options of every command that prints a result. */
export const OUTPUT_OPTIONS: readonly OptionDeclaration[] = [
  { flags: "--json", summary: "print JSON, for programs" },
  { flags: "--debug", summary: "print every message and the stacks of errors to stderr" },
];
