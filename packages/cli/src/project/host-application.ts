import { existsSync } from "node:fs";
import { type ConfigDialect, writeServers } from "@parley/mcp/host";
import { usualPaths } from "../target/config-servers.js";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";
import type { ServerList } from "./server-entry-edit.js";

/** The applications whose files are written, by the names of the command line. */
const APPLICATIONS: Readonly<Record<string, { readonly title: string; readonly references: boolean }>> = {
  claude: { title: "Claude Desktop", references: false },
  "claude-code": { title: "Claude Code", references: true },
  cursor: { title: "Cursor", references: true },
  vscode: { title: "VS Code", references: true },
  codex: { title: "Codex", references: true },
  gemini: { title: "Gemini CLI", references: true },
  windsurf: { title: "Windsurf", references: false },
};

/** The file of an application, and how servers are written there. */
export interface HostApplication extends ServerList {
  readonly title: string;
  readonly dialect: ConfigDialect;
  /** Whether it fills in variables of the environment. */
  readonly references: boolean;
}

/** The file that an application reads for this user, or for the project in this folder. Throws a `UsageError` if it has none. */
export function hostApplication(name: string | undefined, project: boolean, option: string, io: Io): HostApplication {
  const known = name === undefined || !Object.hasOwn(APPLICATIONS, name) ? undefined : APPLICATIONS[name];
  if (known === undefined) {
    throw new UsageError(
      name === undefined ? "no application is named" : `there is no application "${name}"`,
      `Give ${option} one of: ${Object.keys(APPLICATIONS).join(", ")}.`,
    );
  }
  const scope = project ? "project" : "user";
  const files = usualPaths(io).filter((file) => file.application === known.title && file.scope === scope);
  const file = files.find(({ path }) => existsSync(path)) ?? files[0];
  if (file === undefined) {
    throw new UsageError(`${known.title} has no file for projects`, "Leave out --project.");
  }
  const { dialect, path, format } = file;
  return { ...known, dialect, path, format, container: containerOf(dialect) };
}

/** The member of a file that holds its servers, as the library writes it. */
function containerOf(dialect: ConfigDialect): string {
  return Object.keys(writeServers({}, dialect).config)[0] ?? "mcpServers";
}
