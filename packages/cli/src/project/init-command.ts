import type { CommandDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS } from "../commands/target-options.js";

/** How users start the command that creates a project. */
interface InitLine {
  /** The words before the folder. */
  readonly line: string;
  /** The words between the folder and the options. */
  readonly separator?: string;
}

/** Declares the command that creates a project, for `parley init` and for the program `create-parley`. */
export function initCommand(name: string, { line, separator = "" }: InitLine): CommandDeclaration {
  return {
    name,
    words: "[folder]",
    summary: "create a project for a new server",
    description:
      "Creates a server in TypeScript with tests, for stdio and HTTP, in an empty folder. Asks for missing options.",
    options: [
      { flags: "--name <name>", summary: "the name of the package (default: the name of the folder)" },
      { flags: "--description <text>", summary: "the purpose of the server" },
      {
        flags: "--transport <kind>",
        summary: "how the server is served (default: both)",
        choices: ["stdio", "http", "both"],
      },
      { flags: "--install", summary: "run `npm install` in the new folder" },
      { flags: "-y, --yes", summary: "ask no questions" },
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: `${line} my-server`, does: "Asks a few questions, and creates the folder." },
      { line: `${line} my-server${separator} --yes --transport stdio`, does: "Asks no questions." },
    ],
    load: async () => (await import("./init.js")).initBy(line),
  };
}
