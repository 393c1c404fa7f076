import type { CommandDeclaration, OptionDeclaration } from "../commands/command.js";

const SERVING_OPTIONS: readonly OptionDeclaration[] = [
  { flags: "--http [port]", summary: "serve over HTTP; port 3000 unless given, 0 for any that is free" },
  { flags: "--stdio", summary: "serve on stdin and stdout; what happens without --http if stdin is no terminal" },
  { flags: "--host <address>", summary: "the address to listen on; loopback unless given" },
  { flags: "--path <path>", summary: "the path of the endpoint; /mcp unless given" },
  { flags: "--allow <name>", summary: "a host name, or an origin (https://…), that requests may have", many: true },
  { flags: "--allow-unauthenticated", summary: "let everyone who reaches the server use it" },
  { flags: "--debug", summary: "show the stack of errors" },
];

const APPLICATIONS = [
  "parley",
  "claude",
  "claude-desktop",
  "claude-code",
  "cursor",
  "vscode",
  "vscode-insiders",
  "codex",
  "gemini",
  "windsurf",
];

/** Commands that serve, and the one that looks at what is served. */
export const RUN_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "run",
    words: "<module>",
    summary: "serve the server that a module exports",
    description:
      "Serves the server that a module exports: as default, as `server`, or as its only export that is one; or what an exported " +
      "function returns. Settings come from parley.config.* and PARLEY_… variables; options win.",
    options: [
      { flags: "-w, --watch", summary: "replace the server when its files change; clients stay connected" },
      ...SERVING_OPTIONS,
    ],
    examples: [
      {
        line: "parley run ./server.ts --http 3000 --watch",
        does: "Serves on loopback, and replaces the server on every save.",
      },
      {
        line: "parley run ./server.ts --stdio",
        does: "Serves the process that started it; hosts are configured with this line.",
      },
    ],
    endsBySignal: true,
    load: async () => (await import("./run-module.js")).runModule,
  },
  {
    name: "gateway",
    words: "",
    summary: "serve the servers of a config file as one server",
    description:
      "Starts the servers of a config file, keeps them running, and serves all of them as one. Files of Claude, Cursor, VS Code, " +
      "Codex, Gemini, Windsurf and parley.config.* are read; without --config and --from, those in this folder. `parley tree` shows " +
      "what its servers do.",
    options: [
      { flags: "--config <file>", summary: "the file with the servers" },
      {
        flags: "--from <application>",
        summary: "the usual files of an application in place of --config",
        many: true,
        choices: APPLICATIONS,
      },
      { flags: "--name <server>", summary: "only this server of the file", many: true },
      { flags: "--input <pair>", summary: "a value for an input of the file: `name=value`", many: true },
      { flags: "--search", summary: "offer three tools that find, describe and call the others" },
      { flags: "--as <name>", summary: "the gateway's own name; parley-gateway unless given" },
      ...SERVING_OPTIONS,
    ],
    examples: [
      {
        line: "parley gateway --config .mcp.json --http 4000",
        does: "Serves everything of the file at http://127.0.0.1:4000/mcp.",
      },
      {
        line: "parley gateway --from claude --from cursor --stdio --search",
        does: "Serves all servers of two applications behind three tools.",
      },
    ],
    endsBySignal: true,
    load: async () => (await import("./gateway.js")).gateway,
  },
  {
    name: "tree",
    words: "[pid|name]",
    summary: "show the supervision tree of a running gateway",
    description:
      "Shows the servers of a gateway of this user: their states, restarts, calls, and what went wrong last.",
    options: [
      { flags: "-w, --watch", summary: "show it again whenever something changes" },
      { flags: "--json", summary: "answer in JSON, for programs" },
    ],
    examples: [
      { line: "parley tree", does: "Shows the gateway that runs, or lists them if there are several." },
      { line: "parley tree parley-gateway --watch", does: "Follows the gateway of this name." },
    ],
    endsBySignal: true,
    load: async () => (await import("./tree.js")).tree,
  },
];
