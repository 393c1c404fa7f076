import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import type { Implementation } from "@parley/mcp/protocol";
import { isPackageName } from "../project/package-name.js";
import type { PublishFinding } from "./publish-finding.js";
import {
  type DeclaredVariable,
  type JsonObject,
  objectOf,
  objectsOf,
  type PublishProject,
  programFile,
  textOf,
} from "./publish-project.js";
import { SERVER_NAME } from "./server-json-rules.js";

/** The newest published schema of `server.json`. */
const SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/** The inputs for `server.json` apart from the project. */
export interface ServerJsonInputs {
  /** The description that the server gives of itself. */
  readonly info?: Implementation | undefined;
  readonly variables: readonly DeclaredVariable[];
  readonly remotes: readonly string[];
  /** The words after the file of the program, which the server needs to start. */
  readonly args: readonly string[];
  /** The address of a package that serves HTTP. */
  readonly http?: string | undefined;
  /** The bundle, if one is declared. */
  readonly mcpb?: { readonly url: string; readonly sha256?: string | undefined } | undefined;
}

/** A document, and the findings about its sources. `checkServerJson` checks the document itself. */
export interface ServerJsonDraft {
  readonly document: JsonObject;
  readonly findings: readonly PublishFinding[];
}

/**
 * Builds `server.json` from `package.json`, the running server and the options. Members of an existing `server.json`
 * that these do not decide stay as they are, unknown ones too.
 */
export function buildServerJson(project: PublishProject, inputs: ServerJsonInputs): ServerJsonDraft {
  const { manifest, serverJson: before = {} } = project;
  const { info } = inputs;
  const findings: PublishFinding[] = [];
  const packages = packagesOf(project, inputs, findings);
  const remotes = remotesOf(before, inputs.remotes);
  const name = nameOf(project, packages, findings);
  const version = textOf(manifest["version"]);
  checkSources(project, inputs, findings);
  if (packages.length === 0 && remotes.length === 0) {
    findings.push({
      code: "nothing-to-install",
      severity: "error",
      place: "server.json packages",
      message: "the server has no package and no address, so that clients cannot use it",
      fix: "Remove `private` from package.json, or name an address with --remote or a bundle with --mcpb-url.",
    });
  }
  const decided = {
    $schema: SERVER_SCHEMA,
    name,
    title: before["title"] ?? info?.title,
    description: before["description"] ?? manifest["description"] ?? info?.description,
    version,
    websiteUrl: before["websiteUrl"] ?? [info?.websiteUrl, manifest["homepage"]].find(isHttps),
    repository: before["repository"] ?? repositoryOf(manifest, findings),
    icons: before["icons"] ?? iconsOf(info),
    packages: packages.length === 0 ? undefined : packages,
    remotes: remotes.length === 0 ? undefined : remotes,
  };
  const merged = Object.entries({ ...before, ...decided }).filter(([, value]) => value !== undefined);
  return { document: Object.fromEntries(merged), findings };
}

/** Returns the name of the server, and reports where `package.json` must repeat it. */
function nameOf(
  { manifest, serverJson }: PublishProject,
  packages: readonly JsonObject[],
  findings: PublishFinding[],
): string | undefined {
  const [own, before] = [textOf(manifest["mcpName"]), textOf(serverJson?.["name"])];
  const derived = derivedName(manifest);
  const name = own ?? before ?? derived;
  if (name === undefined) {
    findings.push({
      code: "name-missing",
      severity: "error",
      place: "package.json mcpName",
      message: "the server has no name, and package.json names no repository on GitHub to derive one from",
      fix: 'Add a name under a domain of yours to package.json: "mcpName": "com.example/my-server".',
    });
  } else if (own !== undefined && before !== undefined && own !== before) {
    findings.push({
      code: "mcp-name-differs",
      severity: "error",
      place: "server.json name",
      message: `server.json has the name ${before}, package.json has ${own}`,
      fix: "Make `name` of server.json and `mcpName` of package.json equal: the registry compares them.",
    });
  } else if (own === undefined && packages.some(({ registryType }) => registryType === "npm")) {
    findings.push({
      code: "mcp-name-missing",
      severity: "error",
      place: "package.json mcpName",
      message: "package.json has no mcpName, by which the registry proves that the package is yours",
      fix: `Add this line to package.json, and publish the package again: "mcpName": ${JSON.stringify(name)},`,
    });
  }
  return name;
}

/** Derives a name from the repository: the owner's namespace, then the name of the package. */
function derivedName(manifest: JsonObject): string | undefined {
  const { source, owner } = repositoryPlace(manifest) ?? {};
  const own = textOf(manifest["name"])?.replace(/^@[^/]*\//, "");
  const name = `io.github.${owner}/${own}`;
  return source === "github" && own !== undefined && SERVER_NAME.test(name) ? name : undefined;
}

/** The repository of `package.json` on a known host. */
function repositoryPlace(manifest: JsonObject): { source: string; owner: string; url: string } | undefined {
  const { repository } = manifest;
  const text = textOf(repository) ?? textOf(objectOf(repository)?.["url"]) ?? "";
  const [, short, host, path = ""] =
    /^(?:(?:(github|gitlab):|(?:git\+)?(?:https?|ssh|git):\/\/(?:git@)?(?:www\.)?(github|gitlab)\.com\/))?([\w./-]+?)(?:\.git)?\/?$/.exec(
      text.replace(/^git@(github|gitlab)\.com:/, "$1:"),
    ) ?? [];
  const source = short ?? host ?? "github";
  const [owner = "", ...rest] = path.split("/");
  const isPlace = rest.length > 0 && [owner, ...rest].every((part) => /^[\w-][\w.-]*$/.test(part));
  if (!isPlace || (source === "github" && rest.length > 1)) return undefined;
  return { source, owner, url: `https://${source}.com/${path}` };
}

function repositoryOf(manifest: JsonObject, findings: PublishFinding[]): JsonObject | undefined {
  const place = repositoryPlace(manifest);
  const subfolder = textOf(objectOf(manifest["repository"])?.["directory"])?.replace(/^\.\/|\/$/g, "");
  if (place !== undefined)
    return { url: place.url, source: place.source, ...(subfolder === undefined ? {} : { subfolder }) };
  findings.push({
    code: "repository-unknown",
    severity: "note",
    place: "package.json repository",
    message: "package.json names no repository on GitHub or GitLab, so server.json names none",
    fix: 'Add the repository to package.json: "repository": "github:owner/name".',
  });
  return undefined;
}

/** Keeps the icons that a registry accepts: those at HTTPS addresses of at most 255 characters. */
function iconsOf(info: Implementation | undefined): JsonObject[] | undefined {
  const icons = (info?.icons ?? []).filter(({ src }) => isHttps(src) && src.length <= 255);
  return icons.length === 0 ? undefined : icons.map((icon) => ({ ...icon }));
}

function remotesOf(before: JsonObject, urls: readonly string[]): JsonObject[] {
  const known = objectsOf(before["remotes"]);
  const fresh = [...new Set(urls)].filter((url) => !known.some((remote) => remote["url"] === url));
  return [...known, ...fresh.map((url) => ({ type: "streamable-http", url }))];
}

/** Updates the packages of an existing document, and adds the missing ones. */
function packagesOf(
  project: PublishProject,
  { variables, args, http, mcpb }: ServerJsonInputs,
  findings: PublishFinding[],
): JsonObject[] {
  const { manifest, serverJson = {} } = project;
  const [identifier, version] = [textOf(manifest["name"]), textOf(manifest["version"])];
  const packages = objectsOf(serverJson["packages"]);
  const put = (isSame: (known: JsonObject) => boolean, change: (known: JsonObject) => JsonObject) => {
    const at = packages.findIndex(isSame);
    if (at < 0) packages.push(change({}));
    else packages[at] = change(packages[at] ?? {});
  };
  const common = (known: JsonObject) => ({
    ...withVariables(known, variables),
    ...(args.length === 0 ? {} : { packageArguments: args.map((value) => ({ type: "positional", value })) }),
  });
  if (manifest["private"] !== true && identifier !== undefined && isPackageName(identifier)) {
    const transport = http === undefined ? undefined : { type: "streamable-http", url: http };
    put(
      (known) => known["registryType"] === "npm" && known["identifier"] === identifier,
      (known) => ({
        registryType: "npm",
        identifier,
        ...known,
        version,
        transport: transport ?? known["transport"] ?? { type: "stdio" },
        ...common(known),
      }),
    );
    checkProgram(project, findings);
    checkDependencies(manifest, findings);
  }
  if (mcpb !== undefined) {
    put(
      (known) => known["registryType"] === "mcpb",
      (known) => ({
        registryType: "mcpb",
        ...known,
        identifier: mcpb.url,
        version,
        ...(mcpb.sha256 === undefined ? {} : { fileSha256: mcpb.sha256 }),
        transport: { type: "stdio" },
        ...common(known),
      }),
    );
  }
  return packages;
}

/** Checks that `npx` can start the package. */
function checkProgram(project: PublishProject, findings: PublishFinding[]): void {
  const program = programFile(project);
  if (program === undefined) {
    findings.push({
      code: "package-without-bin",
      severity: "error",
      place: "package.json bin",
      message: "the package has no program, so that `npx` cannot start the server",
      fix: 'Add the program to package.json: "bin": "dist/stdio.js". Its first line is #!/usr/bin/env node.',
    });
  } else if (existsSync(program) && !readFileSync(program, "utf8").startsWith("#!")) {
    findings.push({
      code: "bin-without-shebang",
      severity: "error",
      place: relative(project.folder, program).replaceAll(sep, "/"),
      message: "the program has no first line that names Node, so that a shell would run it as its own script",
      fix: "Begin the file with #!/usr/bin/env node.",
    });
  }
}

/** Matches dependencies of this computer: by a protocol for folders and files, by a path, or by the name of an archive. */
const LOCAL = /^(?:(?:file|link|portal|git\+file):|\.|~?[\\/]|[a-z]:[\\/]|[^:]*\.(?:tgz|tar|tar\.gz)$)/i;

/** Checks that npm can install the dependencies of the package on other computers. */
function checkDependencies(manifest: JsonObject, findings: PublishFinding[]): void {
  const optionalPeers = objectOf(manifest["peerDependenciesMeta"]);
  for (const kind of ["dependencies", "optionalDependencies", "peerDependencies"]) {
    for (const [name, spec] of Object.entries(objectOf(manifest[kind]) ?? {})) {
      const isUnused = kind === "peerDependencies" && objectOf(optionalPeers?.[name])?.["optional"] === true;
      if (isUnused || typeof spec !== "string" || !LOCAL.test(spec)) continue;
      findings.push({
        code: "local-dependency",
        severity: "error",
        place: `package.json ${kind}`,
        message: `${name} is ${spec}, which exists on this computer only, so that npm cannot install the package elsewhere`,
        fix: `Replace it with a version of ${name} on npm, such as "^1.0.0".`,
      });
    }
  }
}

/** Adds the declared variables. Members that only `server.json` has stay. */
function withVariables(known: JsonObject, variables: readonly DeclaredVariable[]): JsonObject {
  const merged = objectsOf(known["environmentVariables"]);
  for (const variable of variables) {
    const at = merged.findIndex(({ name }) => name === variable.name);
    if (at < 0) merged.push({ ...variable });
    else merged[at] = { ...merged[at], ...variable };
  }
  return merged.length === 0 ? {} : { environmentVariables: merged };
}

/** Compares the sources with each other. */
function checkSources(
  { manifest }: PublishProject,
  { info, args }: ServerJsonInputs,
  findings: PublishFinding[],
): void {
  const version = textOf(manifest["version"]);
  if (info !== undefined && version !== undefined && info.version !== version) {
    findings.push({
      code: "version-differs",
      severity: "warning",
      place: "package.json version",
      message: `the server reports the version ${info.version}, package.json has ${version}`,
      fix: "Read the version from package.json in the server, so that both change together.",
    });
  }
  for (const arg of args.filter((arg) => isAbsolute(arg) || arg.startsWith("~"))) {
    findings.push({
      code: "argument-local-path",
      severity: "warning",
      place: "server.json packageArguments",
      message: `the argument ${arg} is a path of this computer`,
      fix: "Start the server without it, and declare an environment variable with --env instead.",
    });
  }
}

function isHttps(value: unknown): value is string {
  return typeof value === "string" && URL.canParse(value) && new URL(value).protocol === "https:";
}

/** The schema of server cards (SEP-2127, a draft: https://github.com/modelcontextprotocol/experimental-ext-server-card). */
const CARD_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";

/** Members that a card shares with `server.json`. */
const IDENTITY = ["name", "version", "description", "title", "websiteUrl", "repository", "icons", "remotes", "_meta"];

/**
 * Builds the card that clients read before they connect. A card describes servers with an address, so the result is
 * undefined for a document without remotes. A server of the draft returns it for `GET <url>/server-card`.
 */
export function buildServerCard(document: JsonObject): JsonObject | undefined {
  if (objectsOf(document["remotes"]).length === 0) return undefined;
  const shared = IDENTITY.filter((name) => document[name] !== undefined).map((name) => [name, document[name]] as const);
  return { $schema: CARD_SCHEMA, ...Object.fromEntries(shared) };
}
