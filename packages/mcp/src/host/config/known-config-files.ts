import type { ConfigDialect } from "./config-dialect.js";
import { joinPath } from "./small-file.js";

/** A file in which an application stores its list of servers. The file may not exist. */
export interface KnownConfigFile {
  /** The application for display, such as `Claude Desktop`. */
  readonly application: string;
  /** The form of the file, for `readServers` and `writeServers`. */
  readonly dialect: ConfigDialect;
  /** `user`: the path is absolute. `project`: the path is relative to the folder of a project. */
  readonly scope: "user" | "project";
  /** The path, with the separators of the system. */
  readonly path: string;
  /** The syntax of the file. `readServers` parses JSON; parse TOML before passing it on. */
  readonly format: "json" | "toml";
}

/** The systems whose locations are known, by their names in Node's `process.platform`. */
export type ConfigSystem = "darwin" | "linux" | "win32";

/** Files in projects: application, dialect, path. */
const PROJECT_FILES: readonly (readonly [string, ConfigDialect, string])[] = [
  ["Parley", "parley", "parley.config.json"],
  ["Claude Code", "claude", ".mcp.json"],
  ["Cursor", "cursor", ".cursor/mcp.json"],
  ["VS Code", "vscode", ".vscode/mcp.json"],
  ["Codex", "codex", ".codex/config.toml"],
  ["Gemini CLI", "gemini", ".gemini/settings.json"],
];

/**
 * Lists the files in which the known applications store their servers, for the user with the home folder `home`, and in
 * projects.
 *
 * @example
 * ```ts
 * import { homedir } from "node:os";
 * import { knownConfigFiles } from "@parley/mcp/config";
 *
 * for (const file of knownConfigFiles("linux", homedir(), process.env)) console.log(file.application, file.path);
 * ```
 */
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
  const userFiles: readonly (readonly [string, ConfigDialect, string])[] = [
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
    ...userFiles.map((row) => knownFile("user", ...row)),
    ...PROJECT_FILES.map(([application, dialect, path]) =>
      knownFile("project", application, dialect, system === "win32" ? path.replaceAll("/", "\\") : path),
    ),
  ];
}

function knownFile(
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
