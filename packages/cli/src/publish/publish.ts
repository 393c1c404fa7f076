import { existsSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { CommandRun, Invocation } from "../commands/command.js";
import { EXIT } from "../terminal/exit-code.js";
import { show, showBlock, showIndented } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { lineDifference } from "../typed-code/write-types.js";
import { type InstallLinks, installLinks, installMarkdown } from "./install-links.js";
import { buildMcpb, bundleName, type McpbBundle, variablesIn } from "./mcpb-bundle.js";
import {
  bundleFindings,
  concernsBundle,
  countFindings,
  type PublishFinding,
  printFindings,
} from "./publish-finding.js";
import {
  declaredVariable,
  type JsonObject,
  type PublishProject,
  pathInProject,
  readProject,
} from "./publish-project.js";
import { examineServer } from "./running-server.js";
import { type Registry, registryOf, sendServerJson } from "./send-server-json.js";
import { buildServerCard, buildServerJson, type ServerJsonInputs } from "./server-json.js";
import { checkServerJson, checkTypes } from "./server-json-rules.js";
import { type OutputFile, writeFiles } from "./write-files.js";

/** `parley publish`: checks and writes the files by which others find and install a server. */
export const publish: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const { io } = terminal;
  const registry = wantedRegistry(invocation);
  const project = readProject(io.cwd);
  const given = publishOptions(invocation, project);
  const { server, entry } = await examineServer(given.connecting, project);
  const inputs: ServerJsonInputs = { ...given.inputs, info: server.info, args: entry?.args ?? [] };
  const findings: PublishFinding[] = [];
  let bundle: McpbBundle | undefined;
  if (options.flag("mcpb")) {
    if (entry === undefined) throw missingEntry();
    const { document } = buildServerJson(project, inputs);
    const variables = mergedVariables(document, inputs);
    const icon = options.text("icon");
    const built = await buildMcpb(project, { entry, server, document, variables, values: given.values, icon }, io);
    bundle = built.bundle;
    findings.push(...built.findings);
  }
  const url = inputs.mcpb?.url;
  const { document, findings: own } = buildServerJson(project, {
    ...inputs,
    ...(url === undefined ? {} : { mcpb: { url, sha256: bundle?.sha256 } }),
  });
  // Items of a wrong type are left out of the document, so the existing one is checked too.
  const wrong = checkTypes(project.serverJson ?? {});
  const stated = [...own, ...(wrong.length > 0 ? wrong : checkServerJson(document))];
  const isBundleAlone = wantsBundleAlone(invocation, own);
  findings.unshift(...(isBundleAlone ? bundleFindings(stated) : stated));
  const failing = findings.filter(
    ({ severity }) => severity === "error" || (options.flag("strict") && severity === "warning"),
  );
  const isClean = failing.length === 0;
  const folder = resolve(io.cwd, options.text("output") ?? ".");
  const shown = isBundleAlone ? undefined : document;
  const files = outputFiles({ project, document: shown, bundle, folder, links: options.text("links") }).map((file) => {
    // The bundle alone is not text.
    const isFailing = typeof file.content === "string" ? !isClean : failing.some(concernsBundle);
    return { ...file, isWritten: isWanted(invocation) && !isFailing };
  });
  writeFiles(files.filter(({ isWritten, state }) => isWritten && state !== "unchanged"));
  const outcome = { document: shown, findings, files, bundle };
  // Printed before a failure to send, because the files are written then. JSON is one document.
  if (!terminal.json) report(invocation, outcome);
  if (isClean && registry !== undefined) await sendServerJson(document, registry, io.signal);
  const sentTo = isClean ? registry?.endpoint : undefined;
  if (terminal.json) reportJson(invocation, outcome, sentTo);
  else if (sentTo !== undefined) terminal.print(show`sent server.json to ${sentTo}`);
  return isClean ? EXIT.ok : EXIT.findings;
};

/** True if the files are written, unless there are errors. */
function isWanted({ options }: Invocation): boolean {
  return options.flag("write") || options.text("output") !== undefined;
}

/** True if a bundle is the only file that makes sense: one that a colleague gets, of a package that is not published. */
function wantsBundleAlone({ options }: Invocation, findings: readonly PublishFinding[]): boolean {
  const isMore = options.text("registry") !== undefined || options.text("links") !== undefined;
  return options.flag("mcpb") && !isMore && findings.some(({ code }) => code === "nothing-to-install");
}

function wantedRegistry({ options, terminal: { io } }: Invocation): Registry | undefined {
  const [url, variable] = [options.text("registry"), options.text("tokenEnv")];
  if (url !== undefined) return registryOf(url, variable, io.env);
  if (variable === undefined) return undefined;
  throw new UsageError("--token-env works only with --registry", "Add --registry <url>, or remove it.");
}

/** Separates the declared variables from the values for connecting, which are never written. */
function publishOptions(invocation: Invocation, { settings, manifest }: PublishProject) {
  const { options } = invocation;
  const pairs = [...options.many("env"), ...options.many("secret")].filter((text) => text.includes("="));
  const nameOf = (text: string) => text.replace(/=.*$/s, "");
  const named = [
    ...options.many("env").map((text) => declaredVariable(checkedName(nameOf(text)))),
    ...options.many("secret").map((text) => declaredVariable(checkedName(nameOf(text)), true)),
  ];
  const isNamed = (name: string) => settings.env.some((variable) => variable.name === name);
  const template = options.text("mcpbUrl") ?? settings.mcpbUrl;
  const url = template?.replaceAll("{version}", String(manifest["version"] ?? ""));
  const http = options.text("http") ?? settings.http;
  if (options.text("icon") !== undefined && !options.flag("mcpb"))
    throw new UsageError("--icon works only with --mcpb", "Add --mcpb, or remove it.");
  if (http !== undefined && options.flag("mcpb")) {
    throw new UsageError(
      "--mcpb and --http cannot be combined",
      "A bundle serves on stdin and stdout: remove one of them.",
    );
  }
  return {
    connecting: { ...invocation, options: options.with("env", pairs) },
    values: Object.fromEntries(pairs.map((pair) => [nameOf(pair), pair.slice(pair.indexOf("=") + 1)])),
    inputs: {
      // A declaration in package.json says more than a name on the command line.
      variables: [...settings.env, ...named.filter(({ name }) => !isNamed(name))],
      remotes: [...settings.remotes, ...options.many("remote")],
      http,
      mcpb: url === undefined ? undefined : { url },
    },
  };
}

function checkedName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name;
  throw new UsageError("the name of an environment variable is invalid", "Use letters, digits and `_`: --env API_KEY.");
}

function missingEntry(): UsageError {
  return new UsageError(
    "--mcpb needs the file that starts the server",
    "Name a module, or a program such as `-- node dist/index.js`, or add `bin` to package.json.",
  );
}

/** The variables of the bundle: those of `server.json`, and the declared ones if it lists no package. */
function mergedVariables(document: JsonObject, { variables }: ServerJsonInputs): JsonObject[] {
  const known = variablesIn(document);
  return [
    ...known,
    ...variables.filter(({ name }) => !known.some((one) => one["name"] === name)).map((one) => ({ ...one })),
  ];
}

/** A file that the command writes. */
interface PlannedFile extends OutputFile {
  /** The path from the current folder. */
  readonly name: string;
  readonly state: "new" | "changed" | "unchanged";
  readonly before?: Buffer | undefined;
}

interface OutputInputs {
  readonly project: PublishProject;
  /** The document of `server.json`. Absent if only the bundle is written. */
  readonly document: JsonObject | undefined;
  readonly bundle: McpbBundle | undefined;
  readonly folder: string;
  /** The file for the install links. */
  readonly links: string | undefined;
}

function outputFiles({ project, document, bundle, folder, links }: OutputInputs): PlannedFile[] {
  const card = document === undefined ? undefined : buildServerCard(document);
  const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;
  const files: OutputFile[] = [];
  if (document !== undefined) files.push({ path: join(folder, "server.json"), content: json(document) });
  if (card !== undefined) files.push({ path: join(folder, "server-card.json"), content: json(card) });
  if (bundle !== undefined)
    files.push({ path: join(folder, `${bundleName(project.manifest)}.mcpb`), content: bundle.content });
  if (links !== undefined && document !== undefined) {
    const path = pathInProject(project.folder, links, "the file of --links");
    files.push({ path, content: linksPage(path, links, document) });
  }
  return files.map(({ path, content }) => {
    // Anything else in this place makes `writeFiles` fail.
    const before = existsSync(path) && statSync(path).isFile() ? readFileSync(path) : undefined;
    const isSame = before?.equals(Buffer.from(content)) === true;
    const state = before === undefined ? "new" : isSame ? "unchanged" : "changed";
    return { path, content, name: relative(project.folder, path) || path, state, before };
  });
}

const LINKS_BEGIN = "<!-- parley:install -->";
const LINKS_END = "<!-- /parley:install -->";

/** Puts the links between the markers of an existing page, or into a new page. */
function linksPage(path: string, name: string, document: JsonObject): string {
  const section = `${LINKS_BEGIN}\n${installMarkdown(document)}\n${LINKS_END}`;
  if (!existsSync(path)) return `# Install\n\n${section}\n`;
  const text = readFileSync(path, "utf8");
  const [from, to] = [text.indexOf(LINKS_BEGIN), text.lastIndexOf(LINKS_END)];
  if (from >= 0 && to > from) return text.slice(0, from) + section + text.slice(to + LINKS_END.length);
  throw new UsageError(
    `${name} exists and has no place for the links`,
    `Add these two lines where the links belong: ${LINKS_BEGIN} and ${LINKS_END}.`,
  );
}

/** The outcome of one run. */
interface PublishOutcome {
  /** The document of `server.json`. Absent if only the bundle is written. */
  readonly document: JsonObject | undefined;
  readonly findings: readonly PublishFinding[];
  readonly files: readonly ReportedFile[];
  readonly bundle: McpbBundle | undefined;
}

/** A file of the report. */
interface ReportedFile extends PlannedFile {
  /** True also if the file has the content already. */
  readonly isWritten: boolean;
}

function reportJson({ terminal }: Invocation, outcome: PublishOutcome, sentTo: string | undefined): void {
  const { document, findings, files, bundle } = outcome;
  terminal.printJson({
    counts: countFindings(findings),
    findings,
    written: files.every(({ isWritten }) => isWritten),
    ...(sentTo === undefined ? {} : { sentTo }),
    files: files.map(({ name, state, content, isWritten }) => {
      return { file: name, state, written: isWritten, bytes: Buffer.byteLength(content) };
    }),
    ...(document === undefined ? {} : { serverJson: document }),
    ...(bundle === undefined
      ? {}
      : { mcpb: { sha256: bundle.sha256, manifest: bundle.manifest, files: bundle.files } }),
    links: installLinks(document ?? {}),
  });
}

function report(invocation: Invocation, { document, findings, files, bundle }: PublishOutcome): void {
  for (const file of files) printFile(invocation, file, bundle);
  for (const link of installLinks(document ?? {})) printLinks(invocation, link);
  printFindings(invocation.terminal, findings);
  printSum(invocation, countFindings(findings), files);
}

/** Maximum number of lines of one file that are shown. `--write` writes all. */
const MAX_SHOWN_LINES = 200;

function printFile({ terminal }: Invocation, file: ReportedFile, bundle: McpbBundle | undefined): void {
  const { bold, green, red } = terminal.style;
  const { name, state, content, before, isWritten } = file;
  const verbs = {
    new: ["would create", "created"],
    changed: ["would replace", "replaced"],
    unchanged: ["unchanged", "unchanged"],
  };
  const verb = verbs[state][isWritten ? 1 : 0] ?? "";
  if (typeof content !== "string") {
    terminal.print(show`${verb} ${bold(name)} (${content.length} bytes, SHA-256 ${bundle?.sha256 ?? ""})`);
    for (const inner of bundle?.files ?? []) terminal.print(show`  ${inner.name} (${inner.bytes} bytes)`);
    return;
  }
  terminal.print(show`${verb} ${bold(name)}`);
  if (isWritten || state === "unchanged") return;
  if (before === undefined) {
    const lines = content.trimEnd().split("\n");
    terminal.print(showIndented(lines.slice(0, MAX_SHOWN_LINES).join("\n")));
    if (lines.length > MAX_SHOWN_LINES) terminal.print(show`  … and ${lines.length - MAX_SHOWN_LINES} more lines`);
    return;
  }
  for (const { sign, line } of lineDifference(before.toString(), content).flat().slice(0, MAX_SHOWN_LINES)) {
    const shown = show`  ${sign} ${line}`;
    terminal.print(sign === "-" ? red(shown) : sign === "+" ? green(shown) : shown);
  }
}

function printLinks({ terminal }: Invocation, { source, cursorWeb, vscodeWeb, claudeCode }: InstallLinks): void {
  const { bold, dim } = terminal.style;
  terminal.print(show`install ${bold(source)}`);
  terminal.print(show`  ${dim("Cursor      ")} ${cursorWeb}`);
  terminal.print(show`  ${dim("VS Code     ")} ${vscodeWeb}`);
  terminal.print(show`  ${dim("Claude Code ")} ${showBlock(claudeCode)}`);
}

function printSum(invocation: Invocation, counts: Record<string, number>, files: readonly ReportedFile[]): void {
  const { bold, green } = invocation.terminal.style;
  const sum = Object.entries(counts).map(([kind, count]) => `${count} ${kind}${count === 1 ? "" : "s"}`);
  const missing = files.filter(({ isWritten }) => !isWritten).map(({ name }) => name);
  const what = missing.length < files.length ? `not written: ${missing.join(", ")}` : "nothing was written";
  const why = counts["error"] !== 0 ? ": correct the errors first" : isWanted(invocation) ? "" : ": add --write";
  const rest = missing.length === 0 && files.length > 0 ? "" : show`; ${what}${why}`;
  invocation.terminal.print(((counts["error"] ?? 0) > 0 ? bold : green)(`${sum.join(", ")}${rest}`));
}
