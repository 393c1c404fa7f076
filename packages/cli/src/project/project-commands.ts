import type { CommandDeclaration, OptionDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";

/** The same names as in `host-application.ts`, which loads more than a declaration may. */
const APPLICATIONS = ["claude", "claude-code", "cursor", "vscode", "codex", "gemini", "windsurf"];

const CHANGE_OPTIONS: readonly OptionDeclaration[] = [
  { flags: "--project", summary: "the file of the project in this folder, and not the user's" },
  { flags: "--dry-run", summary: "show the change, and make none" },
];

/** Options of a target that say what it is; nothing is connected here. */
const ENTRY_OPTIONS = TARGET_OPTIONS.filter(({ flags }) => /--(?:config|header|env|cwd) /.test(flags));

const FOLDER: OptionDeclaration = { flags: "--folder <folder>", summary: "where skills are; ./skills unless given" };

/** Commands for those who make servers, and for those who install them. */
export const PROJECT_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "init",
    words: "[folder]",
    summary: "make the project of a new server",
    description:
      "Writes a server in TypeScript with tests, for stdio and HTTP, into an empty folder. Asks what is not given.",
    options: [
      { flags: "--name <name>", summary: "the name of the package; the folder's unless given" },
      { flags: "--description <text>", summary: "what it is for" },
      {
        flags: "--transport <kind>",
        summary: "how it is served; both unless given",
        choices: ["stdio", "http", "both"],
      },
      { flags: "-y, --yes", summary: "ask nothing" },
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley init my-server", does: "Asks a few questions, and makes the folder." },
      { line: "parley init my-server --yes --transport stdio", does: "Asks nothing." },
    ],
    load: async () => (await import("./init.js")).init,
  },
  {
    name: "add",
    words: "<target> --to <application>",
    summary: "write a server into the configuration of an application",
    description:
      "Writes a server into the file of an application, beside what is there. Comments and other entries keep their bytes, and what " +
      "the file was is kept in a .bak beside it, or in the folder of this program for a project. Secrets become references to variables, where the application has them.",
    options: [
      { flags: "--to <application>", summary: "whose file", choices: APPLICATIONS },
      { flags: "--name <name>", summary: "the name of the server there; one that fits unless given" },
      { flags: "--force", summary: "replace a server of the same name" },
      { flags: "--inline-secrets", summary: "write values of secrets into the file" },
      ...CHANGE_OPTIONS,
      ...ENTRY_OPTIONS,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley add ./server.ts --to claude", does: "Lets Claude Desktop start the server of a module." },
      {
        line: "parley add --to vscode --project -- npx -y @modelcontextprotocol/server-everything",
        does: "Writes a program into .vscode/mcp.json.",
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
    summary: "take a server out of the configuration of an application",
    options: [
      { flags: "--from <application>", summary: "whose file", choices: APPLICATIONS },
      ...CHANGE_OPTIONS,
      ...OUTPUT_OPTIONS,
    ],
    examples: [
      { line: "parley remove everything --from vscode --project", does: "Takes it out of .vscode/mcp.json." },
      { line: "parley remove notes --from claude --dry-run", does: "Shows what would be taken out." },
    ],
    load: async () => (await import("./add.js")).remove,
  },
  {
    name: "skills",
    words: "",
    summary: "list, save and run skills",
    description:
      "Skills are folders with instructions for an agent, a SKILL.md, and perhaps a module that does the work.",
    options: [],
    examples: [
      { line: "parley skills list https://example.com/mcp", does: "Shows the skills of a server." },
      { line: "parley skills save https://example.com/mcp refunds", does: "Writes one to skills/refunds." },
    ],
    commands: [
      {
        name: "list",
        words: "[target]",
        summary: "show the skills of a server, or of a folder",
        options: [FOLDER, ...TARGET_OPTIONS, ...OUTPUT_OPTIONS],
        examples: [
          { line: "parley skills list", does: "Shows those in ./skills." },
          { line: "parley skills list ./server.ts", does: "Shows those of a server." },
        ],
        load: async () => (await import("./skills/list-skills.js")).listSkills,
      },
      {
        name: "save",
        words: "<target> <skill> [folder]",
        summary: "write a skill of a server to a folder, verified",
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
        summary: "run the module of a skill, after showing it",
        description:
          "Runs the module of a skill (index.ts, run.ts, main.ts, or one of these in scripts/) with the rights of your user, after " +
          "showing what it is and asking. Its default export gets { client, args, signal }.",
        options: [
          { flags: "--server <target>", summary: "the server that the skill may use; or a program behind `--`" },
          { flags: "--module <path>", summary: "another module inside the skill" },
          { flags: "-y, --yes", summary: "do not ask" },
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
