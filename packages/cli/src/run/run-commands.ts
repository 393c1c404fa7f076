import type { CommandDeclaration, OptionDeclaration } from "../commands/command.js";

const SERVING_OPTIONS: readonly OptionDeclaration[] = [
  { flags: "--http [port]", summary: "serve over HTTP (default port: 3000; 0 for any free port)" },
  { flags: "--stdio", summary: "serve on stdin and stdout (default if stdin is not a terminal)" },
  { flags: "--host <address>", summary: "the address to listen on (default: loopback)" },
  { flags: "--path <path>", summary: "the path of the endpoint (default: /mcp)" },
  {
    flags: "--allow <name>",
    summary: "accept requests for this host name, or from this origin (https://…)",
    many: true,
  },
  { flags: "--allow-unauthenticated", summary: "let anyone who can reach the server use it" },
  { flags: "--debug", summary: "print the stacks of errors" },
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

/** Commands that serve, and the command that shows a running gateway. */
export const RUN_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "run",
    words: "<module>",
    summary: "serve the server that a module exports",
    description:
      "Serves the server that a module exports: the default export, the export named `server`, or the only exported server. An exported function that returns a " +
      "server is called. Settings come from parley.config.* and PARLEY_… variables; options override them.",
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
        does: "Serves the process that started it; use this line in the configuration of a host.",
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
      "Starts the servers of a config file, keeps them running, and serves all of them as one. Reads files of Claude, Cursor, " +
      "VS Code, Codex, Gemini, Windsurf, and parley.config.*. Without --config and --from, reads the files of these applications that are in the current folder. `parley tree` shows " +
      "the state of its servers.",
    options: [
      { flags: "--config <file>", summary: "the file with the servers" },
      {
        flags: "--from <application>",
        summary: "read the files of this application, instead of --config",
        many: true,
        choices: APPLICATIONS,
      },
      { flags: "--name <server>", summary: "only this server of the file", many: true },
      { flags: "--input <pair>", summary: "a value for an input of the configuration file: `name=value`", many: true },
      { flags: "--search", summary: "offer three tools that find, describe and call the others" },
      { flags: "--as <name>", summary: "the name of the gateway (default: parley-gateway)" },
      ...SERVING_OPTIONS,
    ],
    examples: [
      {
        line: "parley gateway --config .mcp.json --http 4000",
        does: "Serves all servers of the file at http://127.0.0.1:4000/mcp.",
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
    description: "Shows the servers of a gateway of this user: their states, restarts, calls and last errors.",
    options: [
      { flags: "-w, --watch", summary: "print it again whenever something changes" },
      { flags: "--json", summary: "print JSON, for programs" },
    ],
    examples: [
      { line: "parley tree", does: "Shows the running gateway, or lists them if there are several." },
      { line: "parley tree parley-gateway --watch", does: "Follows the gateway of this name." },
    ],
    endsBySignal: true,
    load: async () => (await import("./tree.js")).tree,
  },
];
