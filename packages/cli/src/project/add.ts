import { createHash, randomUUID } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { type ConfigDialect, writeServers } from "@parley/mcp/config";
import type { HostServer } from "@parley/mcp/host";
import { isSecretName, looksSecret, Redactor } from "@parley/mcp/recording";
import type { CommandRun, Invocation } from "../commands/command.js";
import { knownFilePaths } from "../target/config-servers.js";
import { settingsFolder } from "../target/saved-logins.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Io } from "../terminal/io.js";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { entryIn, isEmptyConfig, type ServerList, withEntry, withoutEntry } from "./server-entry-edit.js";
import { targetEntry } from "./target-entry.js";

/** `parley add`: writes a server into the configuration of an application. */
export const add: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const application = hostApplication(options.text("to"), options.flag("project"), "--to", terminal.io);
  const found = await targetEntry(invocation);
  const name = checkedName(options.text("name") ?? found.name.replace(/[^A-Za-z0-9_-]+/g, "-"));
  const entry = writtenEntry(name, found.entry, application, invocation);
  const file = readConfigFile(application.path, backupFolder(invocation));
  if (entryIn(file.text, application, name) !== undefined && !options.flag("force")) {
    throw new UsageError(
      `${application.title} already has a server "${name}"`,
      "Choose another --name, or replace it with --force.",
    );
  }
  change(
    file,
    withEntry(file.text, application, name, entry),
    { action: "added", application, name, entry },
    invocation,
  );
  return EXIT.ok;
};

/** `parley remove`: removes a server from the configuration of an application. */
export const remove: CommandRun = async (invocation) => {
  const { options, terminal, words } = invocation;
  const application = hostApplication(options.text("from"), options.flag("project"), "--from", terminal.io);
  const [name] = words;
  if (name === undefined) throw new UsageError("which server?", "Name the server to remove.");
  const file = readConfigFile(application.path, backupFolder(invocation));
  const entry = entryIn(file.text, application, name);
  if (entry === undefined)
    throw new UsageError(
      `${application.path} has no server "${name}"`,
      "Check the name. Add --project for the file of a project.",
    );
  const text = withoutEntry(file.text, application, name, file.backup);
  // Deletes a file without other content, because `add` has probably created it.
  const isEmpty = text !== file.backup && isEmptyConfig(text, application);
  change(file, isEmpty ? undefined : text, { action: "removed", application, name, entry }, invocation);
  return EXIT.ok;
};

/**
 * The folder for backups with `--project`. Backups may contain secrets, and files in a project may be committed.
 * Undefined for a user's file, whose backups are beside it.
 */
function backupFolder({ options, terminal }: Invocation): string | undefined {
  return options.flag("project") ? join(settingsFolder(terminal.io), "backups") : undefined;
}

function checkedName(name: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name;
  throw new UsageError(`"${name}" is not a valid server name`, "Use at most 64 letters, digits, `_` and `-`.");
}

/**
 * Converts the entry to the form of the application. Replaces secrets with references if the application resolves
 * references and `--inline-secrets` is absent.
 */
function writtenEntry(
  name: string,
  given: HostServer,
  application: HostApplication,
  { options, terminal }: Invocation,
): Record<string, unknown> {
  const { dialect, title, references, container } = application;
  const secrets = secretNames(given);
  const refers = secrets.length > 0 && references && !options.flag("inlineSecrets");
  const { entry, variables } = refers ? referToSecrets(name, given, dialect) : { entry: given, variables: [] };
  const { config, problems } = writeServers({ [name]: entry }, dialect);
  for (const { severity, path, message, fix } of problems) {
    if (severity === "error") throw new UsageError(`${path}: ${message}`, fix);
    warn(show`${path}: ${message}`.text, terminal);
  }
  if (variables.length > 0)
    warn(`secrets are not written to the file; set these variables for ${title}: ${variables.join(", ")}`, terminal);
  else if (secrets.length > 0) warn(`${secrets.join(", ")} will be readable in the file`, terminal);
  const servers = config[container] as Record<string, Record<string, unknown>>;
  const written = servers[name];
  if (written === undefined) throw new UsageError(`this server cannot be written for ${title}`, "Add it manually.");
  return written;
}

interface Change {
  readonly action: "added" | "removed";
  readonly application: HostApplication;
  readonly name: string;
  readonly entry: Record<string, unknown>;
}

function change(
  file: ConfigFile,
  text: string | undefined,
  { action, application, name, entry }: Change,
  invocation: Invocation,
): void {
  const { options, terminal } = invocation;
  const dryRun = options.flag("dryRun");
  if (!dryRun) writeConfigFile(file, text);
  const { path } = application;
  if (terminal.json) terminal.printJson({ action, dryRun, application: application.title, path, name, entry });
  else if (dryRun) printChange(path, file.text, text ?? "", terminal);
  else if (action === "added") terminal.print(show`added ${terminal.style.bold(name)} to ${path}`);
  else if (text !== undefined) terminal.print(show`removed ${terminal.style.bold(name)} from ${path}`);
  else terminal.print(show`removed ${terminal.style.bold(name)}, and deleted ${path}, which had no other content`);
}

function printChange(path: string, before: string, after: string, terminal: Terminal): void {
  const { style } = terminal;
  const redactor = new Redactor();
  const { gone, added, line } = changedLines(before, after);
  terminal.print(show`${style.bold(path)}, line ${line}:`);
  for (const text of gone) terminal.print(style.red(`- ${redactor.text(text)}`));
  for (const text of added) terminal.print(style.green(`+ ${redactor.text(text)}`));
}

function warn(text: string, terminal: Terminal): void {
  terminal.note(show`${terminal.noteStyle.yellow("warning: ")}${text}`);
}

/** The block of lines in which two texts differ, without their common beginning and end. */
function changedLines(before: string, after: string) {
  const [old, now] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  return { gone: old.slice(head, old.length - tail), added: now.slice(head, now.length - tail), line: head + 1 };
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** The supported applications, by their names on the command line. */
const APPLICATIONS: Readonly<Record<string, { readonly title: string; readonly references: boolean }>> = {
  claude: { title: "Claude Desktop", references: false },
  "claude-code": { title: "Claude Code", references: true },
  cursor: { title: "Cursor", references: true },
  vscode: { title: "VS Code", references: true },
  codex: { title: "Codex", references: true },
  gemini: { title: "Gemini CLI", references: true },
  windsurf: { title: "Windsurf", references: false },
};

/** The configuration file of an application, and the form of its servers. */
interface HostApplication extends ServerList {
  readonly title: string;
  readonly dialect: ConfigDialect;
  /** True if the application resolves references to environment variables. */
  readonly references: boolean;
}

/**
 * Returns the file that an application reads for this user, or for the project in this folder. Throws a `UsageError`
 * for an unknown application, and for an application without a file for projects.
 */
function hostApplication(name: string | undefined, project: boolean, option: string, io: Io): HostApplication {
  const known = name === undefined || !Object.hasOwn(APPLICATIONS, name) ? undefined : APPLICATIONS[name];
  if (known === undefined) {
    throw new UsageError(
      name === undefined ? "which application?" : `unknown application "${name}"`,
      `Use ${option} with one of: ${Object.keys(APPLICATIONS).join(", ")}.`,
    );
  }
  const scope = project ? "project" : "user";
  const files = knownFilePaths(io).filter((file) => file.application === known.title && file.scope === scope);
  const file = files.find(({ path }) => existsSync(path)) ?? files[0];
  if (file === undefined) {
    throw new UsageError(`${known.title} has no configuration file for projects`, "Remove --project.");
  }
  const { dialect, path, format } = file;
  return { ...known, dialect, path, format, container: containerOf(dialect) };
}

/** The name of the member that holds the servers in files of this dialect. */
function containerOf(dialect: ConfigDialect): string {
  return Object.keys(writeServers({}, dialect).config)[0] ?? "mcpServers";
}

/**
 * Maximum size of a configuration file; larger files are rejected. The limit is high, because applications store more
 * than servers in their files.
 */
const MAX_BYTES = 16 * 1024 * 1024;
/** The suffixes of backups, newest first. */
const BACKUPS = [".bak", ".bak.1", ".bak.2"];

/** A file of an application, as it was read. */
interface ConfigFile {
  /** The path, with links resolved. */
  readonly path: string;
  /** The path of the backups, without their suffixes. */
  readonly backups: string;
  /** Empty if the file does not exist. */
  readonly text: string;
  readonly exists: boolean;
  /** The text before the last change by this program. Undefined if there is no backup. */
  readonly backup: string | undefined;
}

/** Reads a file that may not exist. The backups of the file are beside it, unless `backupFolder` is set. */
function readConfigFile(path: string, backupFolder?: string): ConfigFile {
  const real = existsSync(path) ? realpathSync(path) : path;
  const backups = backupFolder === undefined ? real : join(backupFolder, `${digest(real)}-${basename(real)}`);
  if (!existsSync(path)) return { path, backups, text: "", exists: false, backup: undefined };
  const stats = statSync(real);
  if (!stats.isFile() || stats.size > MAX_BYTES)
    throw new UsageError(`${path} is not a file of at most ${MAX_BYTES} bytes`, "Check the file; nothing was changed.");
  const backup = `${backups}${BACKUPS[0]}`;
  const kept = existsSync(backup) ? readFileSync(backup, "utf8") : undefined;
  return { path: real, backups, text: readFileSync(real, "utf8"), exists: true, backup: kept };
}

/** Identifies a file in the names of its backups, because files in different folders may have the same name. */
function digest(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 12);
}

/**
 * Writes a backup, then replaces the file in one step, or removes it if `text` is undefined. Throws a `UsageError` if
 * another program changed the file meanwhile.
 */
function writeConfigFile(file: ConfigFile, text: string | undefined): void {
  const { path, exists } = file;
  mkdirSync(dirname(path), { recursive: true });
  // A new file may contain secrets, so only the user may read it.
  const mode = exists ? statSync(path).mode & 0o777 : 0o600;
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    writeFileSync(temporary, text ?? "", { flag: "wx", mode, flush: true });
    // The umask may have restricted the mode of the new file, so set the mode again.
    chmodSync(temporary, mode);
    const present = existsSync(path) ? readFileSync(path, "utf8") : "";
    if (present !== file.text || existsSync(path) !== exists)
      throw new UsageError(`${path} was changed by another program at the same time`, "Try again.");
    if (exists) writeBackup(file, mode);
    if (text === undefined) rmSync(path);
    else renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function writeBackup({ path, backups, text }: ConfigFile, mode: number): void {
  if (backups !== path) mkdirSync(dirname(backups), { recursive: true, mode: 0o700 });
  for (let at = BACKUPS.length - 1; at > 0; at--) {
    const older = `${backups}${BACKUPS[at - 1]}`;
    if (existsSync(older)) renameSync(older, `${backups}${BACKUPS[at]}`);
  }
  writeFileSync(`${backups}${BACKUPS[0]}`, text, { mode });
}

/** An entry with references instead of secrets, and the variables that the user must set. */
interface ReferringEntry {
  readonly entry: HostServer;
  /** Names of the variables that the user must set for the application. */
  readonly variables: readonly string[];
}

/** Replaces secret values with references to variables. */
function referToSecrets(name: string, entry: HostServer, dialect: ConfigDialect): ReferringEntry {
  const { env = {}, headers = {} } = entry;
  const variables: string[] = [];
  const own = secretsOf(env);
  const referring = mapped(headers, (header, value) => {
    const [, scheme = "", secret = ""] = /^((?:Bearer|Basic) )?(.*)$/s.exec(value) ?? [];
    const variable = `${name.toUpperCase().replace(/[^A-Z0-9]+/g, "_")}_${variableOf(header)}`.replace(/^(?=\d)/, "_");
    if (secret === "" || !isSecret(header, value)) return value;
    variables.push(variable);
    return `${scheme}\${${variable}}`;
  });
  variables.unshift(...own);
  // Codex does not resolve references in `env`. Instead, it passes the variables listed in `inheritEnv` to the server.
  const codex = dialect === "codex";
  const left = codex ? Object.entries(env).filter(([variable]) => !own.includes(variable)) : [];
  const filled = codex
    ? Object.fromEntries(left)
    : mapped(env, (variable, value) => (own.includes(variable) ? `\${${variable}}` : value));
  return {
    variables,
    entry: {
      ...entry,
      ...(entry.env === undefined ? {} : { env: filled }),
      ...(entry.headers === undefined ? {} : { headers: referring }),
      ...(codex && own.length > 0 ? { inheritEnv: own } : {}),
    },
  };
}

/** The names of the variables and headers whose values are secrets. */
function secretNames({ env = {}, headers = {} }: HostServer): string[] {
  return [...secretsOf(env), ...secretsOf(headers)];
}

function secretsOf(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => (isSecret(name, value) ? [name] : []));
}

/** True for a secret value that is not already a reference to a variable. */
function isSecret(name: string, value: string): boolean {
  return !value.includes("${") && value !== "" && (isSecretName(name, value) || looksSecret(value));
}

function variableOf(header: string): string {
  return /^authorization$/i.test(header) ? "TOKEN" : header.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
}

function mapped(
  values: Readonly<Record<string, string>>,
  change: (name: string, value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(name, value)]));
}
