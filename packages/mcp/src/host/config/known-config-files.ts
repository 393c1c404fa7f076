import type { ConfigDialect } from "./config-dialect.js";
import { joinPath } from "./small-file.js";

/** A file in which an application keeps its list of servers. Whether it exists is not known. */
export interface KnownConfigFile {
  readonly application: string;
  readonly dialect: ConfigDialect;
  /** `user`: the path is complete. `project`: it is relative to the folder of a project. */
  readonly scope: "user" | "project";
  readonly path: string;
  readonly format: "json" | "toml";
}

/** The systems whose places are known, in the names of Node's `process.platform`. */
export type ConfigSystem = "darwin" | "linux" | "win32";

/** Files of projects: application, dialect, path. */
const IN_PROJECTS: readonly (readonly [string, ConfigDialect, string])[] = [
  ["Parley", "parley", "parley.config.json"],
  ["Claude Code", "claude", ".mcp.json"],
  ["Cursor", "cursor", ".cursor/mcp.json"],
  ["VS Code", "vscode", ".vscode/mcp.json"],
  ["Codex", "codex", ".codex/config.toml"],
  ["Gemini CLI", "gemini", ".gemini/settings.json"],
];

/** Where the known applications keep their lists of servers, for the user whose home folder is `home`, and in projects. */
export function knownConfigFiles(
  system: ConfigSystem,
  home: string,
  env: Readonly<Record<string, string | undefined>>,
): KnownConfigFile[] {
  const settings = settingsFolder(system, home, env);
  const inSettings = (...names: string[]) => joinPath(settings, ...names);
  const inHome = (...names: string[]) => joinPath(home, ...names);
  const claude = env.CLAUDE_CONFIG_DIR === undefined ? home : env.CLAUDE_CONFIG_DIR;
  const codex = env.CODEX_HOME === undefined ? inHome(".codex") : env.CODEX_HOME;
  const ofUser: readonly (readonly [string, ConfigDialect, string])[] = [
    ["Claude Desktop", "claude", inSettings("Claude", "claude_desktop_config.json")],
    ["Claude Code", "claude", joinPath(claude, ".claude.json")],
    ["Cursor", "cursor", inHome(".cursor", "mcp.json")],
    ["VS Code", "vscode", inSettings("Code", "User", "mcp.json")],
    ["VS Code Insiders", "vscode", inSettings("Code - Insiders", "User", "mcp.json")],
    ["Codex", "codex", joinPath(codex, "config.toml")],
    ["Gemini CLI", "gemini", inHome(".gemini", "settings.json")],
    ["Windsurf", "claude", inHome(".codeium", "windsurf", "mcp_config.json")],
  ];
  return [
    ...ofUser.map((row) => known("user", ...row)),
    ...IN_PROJECTS.map(([application, dialect, path]) =>
      known("project", application, dialect, system === "win32" ? path.replaceAll("/", "\\") : path),
    ),
  ];
}

function known(
  scope: KnownConfigFile["scope"],
  application: string,
  dialect: ConfigDialect,
  path: string,
): KnownConfigFile {
  return { application, dialect, scope, path, format: path.endsWith(".toml") ? "toml" : "json" };
}

function settingsFolder(system: ConfigSystem, home: string, env: Readonly<Record<string, string | undefined>>): string {
  if (system === "darwin") return joinPath(home, "Library", "Application Support");
  if (system === "win32") return env.APPDATA ?? joinPath(home, "AppData", "Roaming");
  return env.XDG_CONFIG_HOME ?? joinPath(home, ".config");
}
