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
];
