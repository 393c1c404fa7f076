import type { CommandDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";

/** Options for connecting. `--env` has another meaning here, and a recording makes no sense. */
const CONNECTING = TARGET_OPTIONS.filter(({ flags }) => /--(?:config|input|header|cwd|timeout|revision) /.test(flags));

/** Commands for authors who publish a server. */
export const PUBLISH_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "publish",
    words: "[target]",
    summary: "check and write server.json, a bundle, install links and a server card",
    description:
      "Reads package.json of this folder and connects to the server: the target, or the program of the package. Checks what the MCP " +
      "registry and applications require, and shows the files without writing them. --write writes them. Nothing is sent, " +
      "except to the address of --registry. Exits 5 if there is an error; with --strict also for warnings.",
    options: [
      { flags: "--write", summary: "write the files into this folder" },
      { flags: "-o, --output <folder>", summary: "write the files into this folder instead" },
      {
        flags: "-e, --env <name>",
        summary: "a variable that the server needs: `NAME`, or `NAME=value` to set it while connecting",
        many: true,
      },
      { flags: "--secret <name>", summary: "like --env, for a variable with a secret", many: true },
      { flags: "--remote <url>", summary: "an HTTPS address of the server", many: true },
      { flags: "--http <url>", summary: "the address at which the package serves HTTP: `http://127.0.0.1:{PORT}/mcp`" },
      { flags: "--mcpb", summary: "build a bundle for desktop applications; needs rolldown" },
      { flags: "--mcpb-url <url>", summary: "the download address of the bundle, with `{version}` for the version" },
      { flags: "--icon <file>", summary: "the icon of the bundle, a PNG file (default: icon.png)" },
      { flags: "--links <file>", summary: "write the install links into this Markdown file" },
      { flags: "--registry <url>", summary: "send server.json to this registry" },
      { flags: "--token-env <name>", summary: "the environment variable with the token of the registry" },
      { flags: "--strict", summary: "fail for warnings too" },
      ...CONNECTING,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley publish", does: "Checks the package of this folder, and shows what would be written." },
      { line: "parley publish ./src/server.ts --env API_KEY --write", does: "Writes server.json for a module." },
      { line: "parley publish --mcpb --write -- node dist/index.js", does: "Builds a bundle of any program for Node." },
      { line: "parley publish --remote https://example.com/mcp", does: "Adds an address, and shows the server card." },
    ],
    load: async () => (await import("./publish.js")).publish,
  },
];
