import type { CommandDeclaration, OptionDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";
import { initCommand } from "./init-command.js";

/** The names of `APPLICATIONS` in `add.ts`, repeated because a declaration must not load that file. */
const APPLICATIONS = ["claude", "claude-code", "cursor", "vscode", "codex", "gemini", "windsurf"];

const CHANGE_OPTIONS: readonly OptionDeclaration[] = [
  { flags: "--project", summary: "use the file of the project in this folder, not the user's" },
  { flags: "--dry-run", summary: "show the change without making it" },
];

/** Target options that describe a server. `add` does not connect, so it omits the options for connecting. */
const ENTRY_OPTIONS = TARGET_OPTIONS.filter(({ flags }) => /--(?:config|header|env|cwd) /.test(flags));

const FOLDER: OptionDeclaration = {
  flags: "--folder <folder>",
  summary: "the folder with the skills (default: ./skills)",
};

/** Commands for writing servers and for installing them. */
export const PROJECT_COMMANDS: readonly CommandDeclaration[] = [
  initCommand("init", { line: "parley init" }),
  {
    name: "add",
    words: "<target> --to <application>",
    summary: "add a server to the configuration of an application",
    description:
      "Adds a server to the configuration file of an application. Comments and other entries keep their bytes. The previous file is " +
      "saved as .bak beside it or, for a project, in the settings folder of parley. Secrets become references to environment " +
      "variables, if the application supports them.",
    options: [
      { flags: "--to <application>", summary: "the application to configure", choices: APPLICATIONS },
      { flags: "--name <name>", summary: "the name of the server in the file (default: derived from the target)" },
      { flags: "--force", summary: "replace a server of the same name" },
      { flags: "--inline-secrets", summary: "write secrets into the file" },
      ...CHANGE_OPTIONS,
      ...ENTRY_OPTIONS,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley add ./server.ts --to claude", does: "Lets Claude Desktop start the server of a module." },
      {
        line: "parley add --to vscode --project -- npx -y @modelcontextprotocol/server-everything",
        does: "Adds a program to .vscode/mcp.json.",
      },
      {
        line: "parley add https://example.com/mcp --to codex --dry-run",
        does: "Shows what would be written.",
      },
    ],
    load: async () => (await import("./add.js")).add,
  },
  {
    name: "remove",
    words: "<name> --from <application>",
    summary: "remove a server from the configuration of an application",
    options: [
      { flags: "--from <application>", summary: "the application to configure", choices: APPLICATIONS },
      ...CHANGE_OPTIONS,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley remove everything --from vscode --project", does: "Removes it from .vscode/mcp.json." },
      { line: "parley remove notes --from claude --dry-run", does: "Shows what would be removed." },
    ],
    load: async () => (await import("./add.js")).remove,
  },
  {
    name: "skills",
    words: "",
    summary: "list, save and run skills",
    description:
      "A skill is a folder with instructions for an agent (SKILL.md) and, optionally, a module that does the work.",
    options: [],
    examples: [
      { line: "parley skills list https://example.com/mcp", does: "Lists the skills of a server." },
      { line: "parley skills save https://example.com/mcp refunds", does: "Writes one to skills/refunds." },
    ],
    commands: [
      {
        name: "list",
        words: "[target]",
        summary: "list the skills of a server or a folder",
        options: [FOLDER, ...TARGET_OPTIONS, ...OUTPUT_OPTIONS],
        examples: [
          { line: "parley skills list", does: "Lists the skills in ./skills." },
          { line: "parley skills list ./server.ts", does: "Lists the skills of a server." },
        ],
        load: async () => (await import("./skills/list-skills.js")).listSkills,
      },
      {
        name: "save",
        words: "<target> <skill> [folder]",
        summary: "save a skill of a server to a folder, and verify its files",
        options: [...TARGET_OPTIONS, ...OUTPUT_OPTIONS],
        examples: [
          { line: "parley skills save ./server.ts refunds", does: "Writes it to ./skills/refunds." },
          { line: "parley skills save ./server.ts skill://refunds/SKILL.md ~/skills", does: "Names it by its URI." },
        ],
        load: async () => (await import("./skills/save-skill.js")).saveSkill,
      },
      {
        name: "run",
        words: "<skill> [args…]",
        summary: "run the module of a skill, after confirmation",
        description:
          "Runs the module of a skill (index.ts, run.ts, main.ts, or one of these in scripts/) with the permissions of your user, " +
          "after asking for confirmation. Its default export is called with { client, args, signal }.",
        options: [
          { flags: "--server <target>", summary: "the server that the skill may use, or a program behind `--`" },
          { flags: "--module <path>", summary: "another module inside the skill" },
          { flags: "-y, --yes", summary: "do not ask for confirmation" },
          FOLDER,
          ...TARGET_OPTIONS,
          ...OUTPUT_OPTIONS,
        ],
        examples: [
          { line: "parley skills run refunds --server https://example.com/mcp", does: "Runs ./skills/refunds." },
          { line: "parley skills run ./my-skill today --yes", does: "Passes `today`, and does not ask." },
        ],
        load: async () => (await import("./skills/run-skill.js")).runSkill,
      },
    ],
  },
];
