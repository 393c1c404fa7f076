import type { CommandDeclaration, OptionDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS } from "../commands/target-options.js";

const CONFIG: OptionDeclaration = {
  flags: "--config <file>",
  summary: "the configuration file in which a server name is looked up",
};

/** Commands that store and delete the tokens of servers. */
export const LOGIN_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "login",
    words: "<url or name>",
    summary: "log in to a server, and store its tokens for later commands",
    description:
      "Logs in with OAuth: in a browser on this machine, in a browser elsewhere (--no-browser), or with a code (--device). The tokens are stored in a file that only you can read, and later commands renew them.",
    options: [
      { flags: "--no-browser", summary: "print the address instead of opening it, for machines without a browser" },
      { flags: "--device", summary: "log in with a code on another device, if the provider supports it" },
      { flags: "--client-id <id>", summary: "the id of a client that is registered already" },
      { flags: "--client-secret-env <name>", summary: "the environment variable with the client secret" },
      {
        flags: "--scope <scope>",
        summary: "a scope to request (default: the scopes that the server names)",
        many: true,
      },
      { flags: "--port <n>", summary: "the local port to which the browser returns" },
      { flags: "--timeout <time>", summary: "time limit for the login (default: 5m)" },
      CONFIG,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley login https://example.com/mcp", does: "Opens the browser, and waits for the login." },
      {
        line: "parley login https://example.com/mcp --no-browser",
        does: "Over SSH: prints the address, and reads the one that you paste.",
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
    summary: "delete the tokens of a server, and revoke them if the server supports it",
    options: [
      { flags: "--all", summary: "delete the tokens of all servers, without revoking them" },
      CONFIG,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley logout https://example.com/mcp", does: "The next command for this server needs a login." },
      { line: "parley logout --all", does: "Deletes the file with the tokens." },
    ],
    load: async () => (await import("./log-out.js")).logOut,
  },
];
