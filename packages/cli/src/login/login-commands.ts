import type { CommandDeclaration, OptionDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS } from "../commands/target-options.js";

const CONFIG: OptionDeclaration = {
  flags: "--config <file>",
  summary: "the file with `mcpServers` in which a name is looked up",
};

/** Commands that keep and forget the tokens of servers. */
export const LOGIN_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "login",
    words: "<url or name>",
    summary: "log in to a server, and keep its tokens for later commands",
    description:
      "Logs in by OAuth, as the server asks for it: with a browser on this machine, with one elsewhere (--no-browser), or with a code (--device). The tokens are kept in a file that only you can read, and renewed by later commands.",
    options: [
      { flags: "--no-browser", summary: "show the address in place of opening it, for machines without a browser" },
      { flags: "--device", summary: "log in with a code that you type elsewhere, where the provider offers that" },
      { flags: "--client-id <id>", summary: "the id of a client that was registered beforehand" },
      { flags: "--client-secret-env <name>", summary: "the variable with that client's secret" },
      { flags: "--scope <scope>", summary: "a scope to ask for; those that the server names unless given", many: true },
      { flags: "--port <n>", summary: "the port on this machine that the browser comes back to" },
      { flags: "--timeout <time>", summary: "how long you may take: 5m unless given" },
      CONFIG,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley login https://example.com/mcp", does: "Opens the browser, and waits for it to come back." },
      {
        line: "parley login https://example.com/mcp --no-browser",
        does: "Over SSH: shows the address and takes what you paste.",
      },
      {
        line: "parley login https://example.com/mcp --client-id abc",
        does: "For providers without dynamic registration.",
      },
    ],
    load: async () => (await import("./log-in.js")).logIn,
  },
  {
    name: "logout",
    words: "<url or name>",
    summary: "forget the tokens of a server, and revoke them where that is offered",
    options: [
      { flags: "--all", summary: "forget the tokens of all servers, without revoking them" },
      CONFIG,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley logout https://example.com/mcp", does: "The next command for this server needs a login." },
      { line: "parley logout --all", does: "Removes the file with the tokens." },
    ],
    load: async () => (await import("./log-out.js")).logOut,
  },
];
