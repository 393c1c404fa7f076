import { join } from "node:path";
import { type HostServer, writeServers } from "@parley/mcp/host";
import { Redactor } from "@parley/mcp/recording";
import type { CommandRun, Invocation } from "../commands/command.js";
import { settingsFolder } from "../target/token-file.js";
import { EXIT } from "../terminal/exit-code.js";
import { show } from "../terminal/shown.js";
import type { Terminal } from "../terminal/terminal.js";
import { UsageError } from "../terminal/usage-error.js";
import { type ConfigFile, readConfigFile, writeConfigFile } from "./config-file.js";
import { type HostApplication, hostApplication } from "./host-application.js";
import { referToSecrets, secretNames } from "./secret-references.js";
import { entryIn, holdsNothing, withEntry, withoutEntry } from "./server-entry-edit.js";
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
