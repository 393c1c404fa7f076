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
import { usualPaths } from "../target/config-servers.js";
import { settingsFolder } from "../target/saved-logins.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Io } from "../terminal/io.js";
import { show } from "../terminal/shown.js";
import type { Terminal } from "../terminal/terminal.js";
import { UsageError } from "../terminal/usage-error.js";
import { entryIn, holdsNothing, type ServerList, withEntry, withoutEntry } from "./server-entry-edit.js";
import { targetEntry } from "./target-entry.js";

/** `parley add`: writes a server into the file of an application. */
export const add: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const application = hostApplication(options.text("to"), options.flag("project"), "--to", terminal.io);
  const found = await targetEntry(invocation);
  const name = checkedName(options.text("name") ?? found.name.replace(/[^A-Za-z0-9_-]+/g, "-"));
  const entry = writtenEntry(name, found.entry, application, invocation);
  const file = readConfigFile(application.path, backupFolder(invocation));
  if (entryIn(file.text, application, name) !== undefined && !options.flag("force")) {
    throw new UsageError(`${application.title} has a server "${name}" already`, "Give another --name, or --force.");
  }
  change(
    file,
    withEntry(file.text, application, name, entry),
    { action: "added", application, name, entry },
    invocation,
  );
  return EXIT.ok;
};

/** `parley remove`: takes a server out of the file of an application. */
export const remove: CommandRun = async (invocation) => {
  const { options, terminal, words } = invocation;
  const application = hostApplication(options.text("from"), options.flag("project"), "--from", terminal.io);
  const [name] = words;
  if (name === undefined) throw new UsageError("no server is named", "Name the server to take out.");
  const file = readConfigFile(application.path, backupFolder(invocation));
  const entry = entryIn(file.text, application, name);
  if (entry === undefined)
    throw new UsageError(`${application.path} has no server "${name}"`, "Check the name, and --project.");
  const text = withoutEntry(file.text, application, name, file.backup);
  // Nothing else was in it: most likely `add` has made it.
  const isEmpty = text !== file.backup && holdsNothing(text, application);
  change(file, isEmpty ? undefined : text, { action: "removed", application, name, entry }, invocation);
  return EXIT.ok;
};

/** Files in a project's folder may be committed, and backups may hold secrets. */
function backupFolder({ options, terminal }: Invocation): string | undefined {
  return options.flag("project") ? join(settingsFolder(terminal.io), "backups") : undefined;
}

function checkedName(name: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name;
  throw new UsageError(`"${name}" is no name for a server`, "Use letters, digits, `_` and `-`, at most 64.");
}

/** The entry in the form of the application; secrets as references, unless it has none or the user wants them there. */
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
  if (variables.length > 0) warn(`secrets are not written; set ${variables.join(", ")} for ${title}`, terminal);
  else if (secrets.length > 0) warn(`${secrets.join(", ")} will be readable in the file`, terminal);
  const servers = config[container] as Record<string, Record<string, unknown>>;
  const written = servers[name];
  if (written === undefined) throw new UsageError(`${title} cannot hold this server`, "Add it by hand.");
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
  else terminal.print(show`removed ${terminal.style.bold(name)}, and ${path}, which held nothing else`);
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

/** The one block of lines in which two texts differ; what begins and ends both alike is left out. */
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
interface HostApplication extends ServerList {
  readonly title: string;
  readonly dialect: ConfigDialect;
  /** Whether it fills in variables of the environment. */
  readonly references: boolean;
}

/** The file that an application reads for this user, or for the project in this folder. Throws a `UsageError` if it has none. */
function hostApplication(name: string | undefined, project: boolean, option: string, io: Io): HostApplication {
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

/** Files of applications hold much else, but no more than this. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Backups that are kept: `.bak` is the newest. */
const BACKUPS = [".bak", ".bak.1", ".bak.2"];

/** A file of an application, as it was read. */
interface ConfigFile {
  /** Where links lead to. */
  readonly path: string;
  /** The path of the backup, without its ending (`.bak` and the like). */
  readonly backups: string;
  /** Empty if there is no file. */
  readonly text: string;
  readonly exists: boolean;
  /** What it was before its last change by this program. */
  readonly backup: string | undefined;
}

/** Reads a file that may not be there. Its backups are beside it, unless another folder is named for them. */
function readConfigFile(path: string, backupFolder?: string): ConfigFile {
  const real = existsSync(path) ? realpathSync(path) : path;
  const backups = backupFolder === undefined ? real : join(backupFolder, `${digest(real)}-${basename(real)}`);
  if (!existsSync(path)) return { path, backups, text: "", exists: false, backup: undefined };
  const stats = statSync(real);
  if (!stats.isFile() || stats.size > MAX_BYTES)
    throw new UsageError(`${path} is no file of at most ${MAX_BYTES} bytes`, "Name the file of an application.");
  const backup = `${backups}${BACKUPS[0]}`;
  const kept = existsSync(backup) ? readFileSync(backup, "utf8") : undefined;
  return { path: real, backups, text: readFileSync(real, "utf8"), exists: true, backup: kept };
}

/** Keeps the backups of two files of the same name apart. */
function digest(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 12);
}

/**
 * Replaces the file in one step, or removes it where `text` is undefined, and keeps what it was as a backup. Throws a `UsageError` if
 * it was changed meanwhile.
 */
function writeConfigFile(file: ConfigFile, text: string | undefined): void {
  const { path, exists } = file;
  mkdirSync(dirname(path), { recursive: true });
  // A new one may come to hold secrets.
  const mode = exists ? statSync(path).mode & 0o777 : 0o600;
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    writeFileSync(temporary, text ?? "", { flag: "wx", mode, flush: true });
    // The mode above is cut by the umask.
    chmodSync(temporary, mode);
    const present = existsSync(path) ? readFileSync(path, "utf8") : "";
    if (present !== file.text || existsSync(path) !== exists)
      throw new UsageError(`${path} was changed at the same time`, "Try again.");
    if (exists) keepBackup(file, mode);
    if (text === undefined) rmSync(path);
    else renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function keepBackup({ path, backups, text }: ConfigFile, mode: number): void {
  if (backups !== path) mkdirSync(dirname(backups), { recursive: true, mode: 0o700 });
  for (let at = BACKUPS.length - 1; at > 0; at--) {
    const older = `${backups}${BACKUPS[at - 1]}`;
    if (existsSync(older)) renameSync(older, `${backups}${BACKUPS[at]}`);
  }
  writeFileSync(`${backups}${BACKUPS[0]}`, text, { mode });
}

/** An entry that refers to its secrets, and the variables that must be set. */
interface ReferringEntry {
  readonly entry: HostServer;
  /** Names of variables that the application fills in. */
  readonly variables: readonly string[];
}

/** Puts references in the place of values that are secrets. */
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
  // Codex has no references for variables; it passes those on that are named.
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

/** What refers to a variable already is none. */
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
