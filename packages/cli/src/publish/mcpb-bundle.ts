import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { connect, McpError } from "@parley/mcp";
import type { Io } from "../terminal/io.js";
import { bundleServer, ENTRY_FILE, type ServerEntry } from "./bundle-server.js";
import type { PublishFinding } from "./publish-finding.js";
import { type JsonObject, objectOf, objectsOf, type PublishProject, pathInProject, textOf } from "./publish-project.js";
import type { RunningServer } from "./running-server.js";
import { zipArchive } from "./zip-archive.js";

/**
 * The version of the manifest. 0.4 adds only servers in Python and is experimental; applications that know 0.3 alone
 * would reject it.
 */
const MANIFEST_VERSION = "0.3";
/** Maximum size of one file beside the server: icon, README, LICENSE. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_CHECK_MS = 30_000;

/** The inputs of a bundle apart from the project. */
export interface McpbInputs {
  readonly entry: ServerEntry;
  readonly server: RunningServer;
  /** The document of `server.json`. */
  readonly document: JsonObject;
  /** The environment variables of the server, in the form of `server.json`. */
  readonly variables: readonly JsonObject[];
  /** Values of variables for the trial start. They are not written. */
  readonly values: Readonly<Record<string, string>>;
  /** The path of the icon, if the user names one. */
  readonly icon?: string | undefined;
}

/** A bundle for desktop applications. */
export interface McpbBundle {
  readonly content: Uint8Array;
  readonly sha256: string;
  readonly manifest: JsonObject;
  /** The files of the bundle with their sizes. */
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
}

/**
 * Builds a bundle: the server as one file, the manifest, and icon, README and license of the project. Unpacks it in a
 * temporary folder, starts the server as an application does, and compares its tools. Returns only findings if one of
 * these steps fails.
 */
export async function buildMcpb(
  project: PublishProject,
  inputs: McpbInputs,
  io: Pick<Io, "env" | "signal">,
): Promise<{ readonly bundle?: McpbBundle; readonly findings: readonly PublishFinding[] }> {
  const { folder } = project;
  const icon = readIcon(folder, inputs.icon ?? project.settings.icon);
  const license = readdirSync(folder).find((name) => /^licen[cs]e(?:\.md|\.txt)?$/i.test(name));
  const { files: code, findings } = await bundleServer(inputs.entry, folder);
  const all = [...findings, ...icon.findings, ...checkAuthor(project.manifest), ...checkLicense(license)];
  if (code.size === 0 || all.some(({ severity }) => severity === "error")) return { findings: all };
  const manifest = mcpbManifest(project, inputs, icon.content !== undefined);
  const files = new Map<string, Uint8Array>([
    ["manifest.json", Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`)],
    ...[...code].map(([name, content]) => [`server/${name}`, content] as const),
    ...(icon.content === undefined ? [] : [["icon.png", icon.content] as const]),
    ...["README.md", license ?? "LICENSE"].flatMap((name) => {
      const content = readSmallFile(join(folder, name));
      return content === undefined ? [] : [[name, content] as const];
    }),
  ]);
  const failure = await tryBundle(files, manifest, inputs, io);
  if (failure !== undefined) return { findings: [...all, failure] };
  const content = zipArchive(files);
  const sha256 = createHash("sha256").update(content).digest("hex");
  const listed = [...files].map(([name, { length }]) => ({ name, bytes: length }));
  return { bundle: { content, sha256, manifest, files: listed }, findings: all };
}

/** Builds the manifest from `package.json`, `server.json` and the offers of the running server. */
function mcpbManifest(project: PublishProject, inputs: McpbInputs, hasIcon: boolean): JsonObject {
  const { manifest } = project;
  const { document, server, entry, variables } = inputs;
  const repository = textOf(objectOf(document["repository"])?.["url"]);
  const license = textOf(manifest["license"]);
  const keywords = Array.isArray(manifest["keywords"])
    ? manifest["keywords"].filter((word) => typeof word === "string")
    : [];
  const engine = textOf(objectOf(manifest["engines"])?.["node"]) ?? ">=20.19";
  const settings = variables.map(userSetting).filter((setting) => setting !== undefined);
  const env = Object.fromEntries(settings.map(([name]) => [name, `\${user_config.${name}}`]));
  return defined({
    manifest_version: MANIFEST_VERSION,
    name: bundleName(manifest),
    display_name: document["title"] ?? server.info?.title,
    version: manifest["version"],
    description: document["description"],
    author: authorOf(manifest),
    repository: repository === undefined ? undefined : { type: "git", url: repository },
    homepage: document["websiteUrl"],
    support: urlOf(objectOf(manifest["bugs"])?.["url"] ?? manifest["bugs"]),
    icon: hasIcon ? "icon.png" : undefined,
    server: {
      type: "node",
      entry_point: `server/${ENTRY_FILE}`,
      mcp_config: defined({
        command: "node",
        args: [`\${__dirname}/server/${ENTRY_FILE}`, ...entry.args],
        env: settings.length === 0 ? undefined : env,
      }),
    },
    tools: server.tools.map(({ name, description }) => defined({ name, description })),
    prompts: server.prompts.length === 0 ? undefined : server.prompts.map((prompt) => defined({ ...prompt })),
    prompts_generated: server.hasMorePrompts ? true : undefined,
    keywords: keywords.length === 0 ? undefined : keywords,
    license,
    compatibility: { runtimes: { node: engine } },
    user_config: settings.length === 0 ? undefined : Object.fromEntries(settings),
  });
}

/** The name of the bundle, and of its file: the name of the package without its scope. */
export function bundleName(manifest: JsonObject): string {
  const name = (textOf(manifest["name"]) ?? "server").replace(/^@[^/]*\//, "");
  return name.replace(/[^\w.-]+/g, "-").replace(/^[.-]+/, "") || "server";
}

/** Converts an environment variable to a setting that the application asks its user for. */
function userSetting(variable: JsonObject): readonly [string, JsonObject] | undefined {
  const { name, description, isRequired, isSecret, format, default: preset, value } = variable;
  // A fixed value is not a setting; names are checked with `server.json`.
  if (typeof name !== "string" || value !== undefined) return undefined;
  const type = format === "filepath" ? "file" : format === "boolean" ? "boolean" : "string";
  const text = type === "boolean" ? preset === "true" : (preset ?? "");
  const setting = {
    type,
    title: name,
    description: textOf(description) ?? `The environment variable ${name}.`,
    required: isRequired === true,
    sensitive: isSecret === true && type === "string" ? true : undefined,
    // Without a default, applications leave the reference to an unset option in the variable.
    default: isRequired === true && preset === undefined ? undefined : text,
  };
  return [name, defined(setting)];
}

/** Reads the author in any form of `package.json`. */
function authorOf({ author }: JsonObject): JsonObject | undefined {
  const [, name, email, url] = /^([^<(]*)(?:<([^>]*)>)?\s*(?:\(([^)]*)\))?/.exec(textOf(author) ?? "") ?? [];
  const given = objectOf(author) ?? { name: name?.trim(), email, url };
  const mail = textOf(given["email"]);
  const isMail = mail !== undefined && /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+$/.test(mail);
  if (textOf(given["name"]) === undefined) return undefined;
  return defined({ name: given["name"], email: isMail ? mail : undefined, url: urlOf(given["url"]) });
}

function checkAuthor(manifest: JsonObject): PublishFinding[] {
  if (authorOf(manifest) !== undefined) return [];
  return [
    {
      code: "author-missing",
      severity: "error",
      place: "package.json author",
      message: "a bundle needs the name of its author",
      fix: 'Add it to package.json: "author": "Your Name".',
    },
  ];
}

function checkLicense(file: string | undefined): PublishFinding[] {
  if (file !== undefined) return [];
  return [
    {
      code: "license-missing",
      severity: "note",
      place: "LICENSE",
      message: "the project has no file with its license, so the bundle has none",
      fix: "Add the text of the license as LICENSE.",
    },
  ];
}

function readIcon(folder: string, named: string | undefined) {
  const path = named === undefined ? join(folder, "icon.png") : pathInProject(folder, named, "the icon");
  const content = readSmallFile(path);
  const isPng = content?.subarray(0, 8).equals(PNG) === true;
  if ((named === undefined && content === undefined) || isPng) return { content, findings: [] };
  const finding: PublishFinding = {
    code: "icon-not-png",
    severity: "error",
    place: named ?? "icon.png",
    message: content === undefined ? "the icon does not exist, or is too large" : "the icon is not a PNG file",
    fix: "Name a PNG file of 512 × 512 pixels with --icon.",
  };
  return { content: undefined, findings: [finding] };
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function readSmallFile(path: string): Buffer | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size <= MAX_FILE_BYTES ? readFileSync(path) : undefined;
}

/** Starts the unpacked bundle in an empty folder, and compares its tools with those of the server. */
async function tryBundle(
  files: ReadonlyMap<string, Uint8Array>,
  manifest: JsonObject,
  { server, values }: McpbInputs,
  { env, signal }: Pick<Io, "env" | "signal">,
): Promise<PublishFinding | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "parley-mcpb-"));
  try {
    for (const [name, content] of files) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    const config = objectOf(objectOf(manifest["server"])?.["mcp_config"]) ?? {};
    const args = (config["args"] as readonly string[]).map((arg) => arg.replace(/^\$\{__dirname\}/, folder));
    const names = Object.keys(objectOf(config["env"]) ?? {});
    const given = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
    await using client = await connect(
      { command: process.execPath, args, cwd: folder, env: { ...Object.fromEntries(given), ...values } },
      { name: "parley", signal, timeouts: { connectMs: MAX_CHECK_MS } },
    );
    const tools = client.serverCapabilities.tools === undefined ? [] : await client.allTools();
    const found = new Set(tools.map(({ name }) => name));
    const missing = server.tools.filter(({ name }) => !found.has(name)).map(({ name }) => name);
    return missing.length === 0 ? undefined : brokenBundle(`the bundled server lacks the tools ${missing.join(", ")}`);
  } catch (reason) {
    if (signal.aborted) throw reason;
    return brokenBundle(`the bundled server does not start: ${McpError.from(reason).message}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function brokenBundle(message: string): PublishFinding {
  return {
    code: "bundle-broken",
    severity: "error",
    place: `server/${ENTRY_FILE}`,
    message,
    fix: "Check which files and packages the server loads while it starts; variables are set with --env NAME=value.",
  };
}

/** The environment variables of all packages of a document, without duplicates. */
export function variablesIn(document: JsonObject): JsonObject[] {
  const all = objectsOf(document["packages"]).flatMap((item) => objectsOf(item["environmentVariables"]));
  return all.filter(({ name }, index) => all.findIndex((other) => other["name"] === name) === index);
}

function urlOf(value: unknown): string | undefined {
  return typeof value === "string" && URL.canParse(value) && /^https?:/.test(value) ? value : undefined;
}

/** Leaves out members that are undefined. */
function defined(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
