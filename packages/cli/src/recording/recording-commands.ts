import type { CommandDeclaration, OptionDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";

const SERVE_OPTIONS: readonly OptionDeclaration[] = [
  { flags: "--http [port]", summary: "serve over HTTP on this machine (default port: any free one)" },
  { flags: "--stdio", summary: "serve on stdin and stdout (default if stdin is not a terminal)" },
];
const WITHOUT_RECORD = TARGET_OPTIONS.filter(({ flags }) => !flags.startsWith("--record"));

/** Commands that record sessions and replay them. */
export const RECORDING_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "record",
    words: "<target> -o <file>",
    summary: "record the messages between clients and a server",
    description:
      "Forwards between clients and a server, and writes every message to a file. Secrets are redacted: values of headers and of " +
      "--env, members such as `token` and `password`, and texts that look like keys.",
    options: [
      { flags: "-o, --output <file>", summary: "the file to write; it must not exist yet" },
      { flags: "--force", summary: "replace an existing file" },
      ...SERVE_OPTIONS,
      ...WITHOUT_RECORD,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      {
        line: "parley record -o session.jsonl -- npx -y @modelcontextprotocol/server-everything",
        does: "Serves the program on stdin and stdout, as a host would start it.",
      },
      {
        line: "parley record ./server.ts -o session.jsonl --http 4000",
        does: "Serves the module at http://127.0.0.1:4000/mcp.",
      },
    ],
    endsBySignal: true,
    load: async () => (await import("./record.js")).record,
  },
  {
    name: "replay",
    words: "<file>",
    summary: "serve a recording, or compare a server with it",
    description:
      "Serves the recorded answers to clients of every revision, or sends the recorded requests to another server and shows which " +
      "answers differ. Tools without a read-only annotation are then called only with --all.",
    options: [
      ...SERVE_OPTIONS,
      { flags: "--against [target]", summary: "send the requests to this server, or to the program behind `--`" },
      {
        flags: "--ignore <path>",
        summary: "a member that may differ, such as `structuredContent.time` or `tools.*.title`",
        many: true,
      },
      { flags: "--all", summary: "also call tools that may change something" },
      ...TARGET_OPTIONS,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley replay session.jsonl --http 4000", does: "Serves the recording at http://127.0.0.1:4000/mcp." },
      {
        line: "parley replay session.jsonl --against ./server.ts --ignore structuredContent.time",
        does: "Exits with 5 if an answer differs.",
      },
    ],
    endsBySignal: true,
    load: async () => (await import("./replay.js")).replay,
  },
];
