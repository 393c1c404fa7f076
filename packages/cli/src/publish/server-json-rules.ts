import type { PublishFinding } from "./publish-finding.js";
import { type JsonObject, objectOf, objectsOf, textOf } from "./publish-project.js";
import { compareShape, SERVER_JSON } from "./server-json-shape.js";

/** The form of a server name: a namespace in reverse-DNS form, one slash, and a name. */
export const SERVER_NAME = /^[a-zA-Z0-9][a-zA-Z0-9.-]*[a-zA-Z0-9]\/[a-zA-Z0-9][a-zA-Z0-9._-]*[a-zA-Z0-9]$/;

const MAX_NAME = 200;
const MAX_TEXT = 100;
const MAX_VERSION = 255;
const MAX_ICON_URL = 255;
const MAX_META_BYTES = 4096;
const PUBLISHER_META = "io.modelcontextprotocol.registry/publisher-provided";

const SEMVER = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
/** Versions that name no single release: comparators, wildcards, hyphen ranges, alternatives. */
const RANGE = /^\s*[~^<>=]|\|\||\s-\s|^\s*v?(?:\d+|[xX*])(?:\.(?:\d+|[xX*]))*\.?[xX*]\s*$|^\s*[xX*]\s*$/;

/** Reports one finding at a member of the document. */
type Report = (finding: Omit<PublishFinding, "severity" | "place"> & Partial<PublishFinding>) => void;

/** Checks the types of all known members. */
export function checkTypes(document: JsonObject): PublishFinding[] {
  const findings: PublishFinding[] = [];
  compareShape(document, SERVER_JSON, (path, expected) =>
    findings.push({ severity: "error", place: `server.json ${path}`, ...invalidMember(path, expected) }),
  );
  return findings;
}

/**
 * Checks a document by the rules of the published schema and of the official registry
 * (https://github.com/modelcontextprotocol/registry/tree/main/docs/reference/server-json).
 */
export function checkServerJson(document: JsonObject): PublishFinding[] {
  const findings = checkTypes(document);
  // The other rules read members by their types.
  if (findings.length > 0) return findings;
  const at =
    (path: string): Report =>
    (finding) =>
      findings.push({ severity: "error", place: `server.json ${path}`, ...finding });
  checkIdentity(document, at);
  checkLinks(document, at);
  for (const [index, item] of objectsOf(document["packages"]).entries())
    checkPackage(item, (path) => at(`packages[${index}]${path}`));
  for (const [index, item] of objectsOf(document["remotes"]).entries())
    checkRemote(item, (path) => at(`remotes[${index}]${path}`));
  checkMeta(document, at("_meta"));
  return findings;
}

function checkIdentity(document: JsonObject, at: (path: string) => Report): void {
  const { name, title, description, version } = document;
  if (name !== undefined && (!SERVER_NAME.test(String(name)) || String(name).length > MAX_NAME)) {
    at("name")({
      code: "name-invalid",
      message: `${JSON.stringify(name)} is not a server name`,
      fix: `Use a namespace, one slash and a name, such as io.github.owner/my-server; letters, digits, \`.\`, \`_\` and \`-\`, at most ${MAX_NAME} characters.`,
    });
  }
  checkText(title, "title", at("title"));
  if (description === undefined || description === "") {
    at("description")({
      code: "description-missing",
      message: "the server has no description",
      fix: "Add a description to package.json: one sentence about what the server does.",
    });
  } else checkText(description, "description", at("description"));
  if (version === undefined) {
    at("version")({
      code: "version-missing",
      message: "the server has no version",
      fix: 'Add a version to package.json: "version": "1.0.0".',
    });
  } else checkVersion(version, at("version"));
}

function checkText(value: unknown, name: string, report: Report): void {
  if (typeof value !== "string") return;
  if (value.trim() === "") return report(invalidMember(name, "a text that is not blank"));
  // Counted as the schema counts: by characters, not by UTF-16 units.
  const length = [...value].length;
  if (length <= MAX_TEXT) return;
  report({
    code: `${name}-length`,
    message: `the ${name} has ${length} characters, and the registry accepts ${MAX_TEXT}`,
    fix: `Shorten it, or write a shorter \`${name}\` into server.json, which is then kept.`,
  });
}

function checkVersion(version: unknown, report: Report): void {
  if (typeof version !== "string" || version === "") return report(invalidMember("version", "a version"));
  if (version === "latest" || RANGE.test(version) || version.length > MAX_VERSION) {
    return report({
      code: "version-range",
      message: `${JSON.stringify(version.slice(0, 100))} does not name one version`,
      fix: "Use an exact version, such as 1.2.3.",
    });
  }
  if (SEMVER.test(version)) return;
  report({
    code: "version-format",
    severity: "warning",
    message: `${version} is not a semantic version, so that the registry always takes it for the latest`,
    fix: "Use three numbers, such as 1.2.3 or 1.2.3-rc.1.",
  });
}

const REPOSITORIES: Readonly<Record<string, RegExp>> = {
  github: /^https?:\/\/(?:www\.)?github\.com\/[\w.-]+\/[\w.-]+\/?$/,
  gitlab: /^https?:\/\/(?:www\.)?gitlab\.com\/[\w.-]+(?:\/[\w.-]+)+\/?$/,
};
const ICON_TYPES = ["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"];

function checkLinks(document: JsonObject, at: (path: string) => Report): void {
  const { websiteUrl, repository, $schema } = document;
  if ($schema !== undefined && !isUrl($schema)) at("$schema")(invalidMember("$schema", "a URL"));
  if (websiteUrl !== undefined && !isUrl(websiteUrl, "https:")) {
    at("websiteUrl")({
      code: "website-invalid",
      message: `${JSON.stringify(websiteUrl)} is not an HTTPS URL`,
      fix: "Use a URL that begins with https://, or remove the member.",
    });
  }
  if (repository !== undefined) checkRepository(objectOf(repository), at("repository"));
  for (const [index, icon] of objectsOf(document["icons"]).entries()) checkIcon(icon, at(`icons[${index}]`));
}

function checkRepository(repository: JsonObject | undefined, report: Report): void {
  const { url, source, subfolder } = repository ?? {};
  const pattern = typeof source === "string" ? REPOSITORIES[source] : undefined;
  const isPath = (path: unknown) =>
    typeof path === "string" &&
    /^[\w./-]+$/.test(path) &&
    path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
  if (pattern?.test(String(url)) === true && (subfolder === undefined || isPath(subfolder))) return;
  report({
    code: "repository-invalid",
    message: "the repository is not one of GitHub or GitLab, or its subfolder is not a clean relative path",
    fix: 'Use { "url": "https://github.com/owner/name", "source": "github" }, or remove the member.',
  });
}

function checkIcon({ src, mimeType, sizes, theme }: JsonObject, report: Report): void {
  const isSize = (size: unknown) => typeof size === "string" && /^(?:\d+x\d+|any)$/.test(size);
  const isValid =
    isUrl(src, "https:") &&
    String(src).length <= MAX_ICON_URL &&
    (mimeType === undefined || ICON_TYPES.includes(String(mimeType))) &&
    (sizes === undefined || (Array.isArray(sizes) && sizes.every(isSize))) &&
    (theme === undefined || theme === "light" || theme === "dark");
  if (isValid) return;
  report({
    code: "icon-invalid",
    message: "the icon has no HTTPS address, or an unknown type, size or theme",
    fix: `Use an address of at most ${MAX_ICON_URL} characters, a type such as image/png, and sizes such as 48x48.`,
  });
}

function checkPackage(item: JsonObject, at: (path: string) => Report): void {
  const { registryType, identifier, version, registryBaseUrl, fileSha256 } = item;
  const old = Object.keys(item).filter((name) => /^[a-z]+_[a-z_0-9]+$/.test(name));
  if (old.length > 0) {
    at("")({
      code: "member-old",
      message: `${old.join(", ")}: the schema of 2025-09-16 renamed these members`,
      fix: `Rename them: ${old.map((name) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())).join(", ")}.`,
    });
  }
  if (textOf(registryType) === undefined || textOf(identifier) === undefined || /\s/.test(String(identifier))) {
    at("")({
      code: "package-invalid",
      message: "the package has no registryType, or no identifier without spaces",
      fix: 'Use { "registryType": "npm", "identifier": "my-server", … }.',
    });
  }
  if (version !== undefined) checkVersion(version, at(".version"));
  else if (registryType === "npm") {
    at(".version")({
      code: "package-version-missing",
      message: "a package of npm needs a version",
      fix: "Add the exact version of the package.",
    });
  }
  if (registryType === "npm" && registryBaseUrl !== undefined) {
    at(".registryBaseUrl")({
      code: "package-registry",
      severity: "warning",
      message: "the official registry accepts only the public registry of npm, which is the default",
      fix: "Remove `registryBaseUrl`.",
    });
  }
  if (registryType === "mcpb") checkMcpb(String(identifier), at);
  if (fileSha256 !== undefined && !/^[a-f0-9]{64}$/.test(String(fileSha256))) {
    at(".fileSha256")(invalidMember("fileSha256", "a SHA-256 in 64 lowercase hexadecimal digits"));
  } else if (registryType === "mcpb" && fileSha256 === undefined) {
    at(".fileSha256")({
      code: "mcpb-hash-missing",
      message: "the bundle has no SHA-256, by which clients check the download",
      fix: "Run the command with --mcpb, which builds the bundle and writes its hash.",
    });
  }
  checkInputs(item, "environmentVariables", at);
  for (const list of ["runtimeArguments", "packageArguments"]) checkArguments(item, list, at);
  checkTransport(objectOf(item["transport"]), declaredNames(item), at(".transport"));
}

function checkMcpb(url: string, at: (path: string) => Report): void {
  if (!isUrl(url, "https:") || !/mcp/i.test(url)) {
    at(".identifier")({
      code: "mcpb-url-invalid",
      message: `${url} is not an HTTPS address that contains "mcp"`,
      fix: "Use the download address of the .mcpb file.",
    });
  } else if (!/^(?:github|gitlab)\.com$/.test(new URL(url).hostname)) {
    at(".identifier")({
      code: "mcpb-url-host",
      severity: "warning",
      message: "the official registry accepts only bundles among the releases of GitHub and GitLab",
      fix: "Upload the bundle to a release of the repository.",
    });
  }
}

/** Names that the address of a package may use as `{NAME}`. */
function declaredNames(item: JsonObject): Set<unknown> {
  const inputs = ["environmentVariables", "runtimeArguments", "packageArguments"].flatMap((list) =>
    objectsOf(item[list]),
  );
  return new Set(inputs.flatMap(({ name, valueHint }) => [name, valueHint]));
}

function checkTransport(transport: JsonObject | undefined, names: Set<unknown>, report: Report): void {
  const { type, url } = transport ?? {};
  const isHttp = type === "streamable-http" || type === "sse";
  if ((type !== "stdio" && !isHttp) || (isHttp && !isTemplate(url)) || (type === "stdio" && url !== undefined)) {
    return report({
      code: "transport-invalid",
      message: "the transport is not stdio without a URL, nor streamable-http or sse with one",
      fix: 'Use { "type": "stdio" }, or { "type": "streamable-http", "url": "http://127.0.0.1:{PORT}/mcp" }.',
    });
  }
  reportUnknown(isHttp ? String(url) : "", names, report);
}

function checkRemote(remote: JsonObject, at: (path: string) => Report): void {
  const { type, url, variables } = remote;
  const filled = String(url).replace(/\{[^}]+\}/g, "x");
  const host = URL.canParse(filled) ? new URL(filled).hostname : "";
  const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|.*\.localhost)$/.test(host);
  if ((type !== "streamable-http" && type !== "sse") || !isTemplate(url) || !/^https:/.test(String(url)) || isLocal) {
    return at("")({
      code: "remote-invalid",
      message: `${JSON.stringify(url)} is not an HTTPS address that others can reach`,
      fix: 'Use { "type": "streamable-http", "url": "https://example.com/mcp" }.',
    });
  }
  checkInputs(remote, "headers", at);
  reportUnknown(String(url), new Set(Object.keys(objectOf(variables) ?? {})), at(".url"));
}

function reportUnknown(template: string, names: Set<unknown>, report: Report): void {
  const unknown = [...template.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name).filter((name) => !names.has(name));
  if (unknown.length === 0) return;
  report({
    code: "url-variable",
    message: `the address uses {${unknown.join("}, {")}}, which is not declared`,
    fix: "Declare it: as an environment variable or argument of the package, or in `variables` of the remote.",
  });
}

const FORMATS: readonly unknown[] = [undefined, "string", "number", "boolean", "filepath"];

/** Checks environment variables or headers. */
function checkInputs(item: JsonObject, list: string, at: (path: string) => Report): void {
  objectsOf(item[list]).forEach((input, index) => {
    const report = at(`.${list}[${index}]`);
    const name = textOf(input["name"]);
    const isName = list === "headers" ? /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/ : /^[A-Za-z_][A-Za-z0-9_]*$/;
    if (name === undefined || !isName.test(name) || !FORMATS.includes(input["format"])) {
      report({
        code: "input-invalid",
        message: `${JSON.stringify(input["name"] ?? null)} is not a name, or its format is unknown`,
        fix: "Use letters, digits and `_`; the formats are string, number, boolean and filepath.",
      });
    }
    if (input["isSecret"] === true && (input["value"] ?? input["default"]) !== undefined) {
      // A template such as `Bearer {token}` has no secret in it.
      if (/\{[^}]+\}/.test(String(input["value"] ?? ""))) return;
      report({
        code: "secret-value",
        message: `${name ?? "the input"} is secret and has a value, which everybody could read`,
        fix: "Remove `value` and `default`; clients ask their users.",
      });
    }
  });
}

function checkArguments(item: JsonObject, list: string, at: (path: string) => Report): void {
  objectsOf(item[list]).forEach(({ type, name, value, valueHint, default: preset }, index) => {
    const isNamed = type === "named" && typeof name === "string" && name !== "" && !/[<>$\s]/.test(name);
    const repeats = [value, preset].some(
      (text) => isNamed && typeof text === "string" && text.startsWith(String(name)),
    );
    const isPositional = type === "positional" && (value !== undefined || valueHint !== undefined);
    if ((isNamed && !repeats) || isPositional) return;
    at(`.${list}[${index}]`)({
      code: "argument-invalid",
      message: "the argument is neither named, such as --port, nor positional with a value or a valueHint",
      fix: 'Use { "type": "named", "name": "--port", "value": "80" } or { "type": "positional", "value": "stdio" }.',
    });
  });
}

function checkMeta(document: JsonObject, report: Report): void {
  const meta = objectOf(document["_meta"]);
  if (meta === undefined) return;
  const bytes = Buffer.byteLength(JSON.stringify(meta[PUBLISHER_META] ?? null));
  if (bytes > MAX_META_BYTES) {
    report({
      code: "meta-size",
      message: `the metadata has ${bytes} bytes, and the registry accepts ${MAX_META_BYTES}`,
      fix: "Shorten it.",
    });
  }
  const dropped = Object.keys(meta).filter((key) => key !== PUBLISHER_META);
  if (dropped.length === 0) return;
  report({
    code: "meta-dropped",
    severity: "warning",
    message: `the official registry drops ${dropped.join(", ")}`,
    fix: `Put the metadata under "${PUBLISHER_META}".`,
  });
}

function invalidMember(name: string, expected: string): Pick<PublishFinding, "code" | "message" | "fix"> {
  return { code: "member-invalid", message: `${name} is not ${expected}`, fix: "Correct or remove the member." };
}

function isUrl(value: unknown, protocol?: string): boolean {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  return protocol === undefined || new URL(value).protocol === protocol;
}

/** True for an HTTP address in which `{NAME}` stands for a value. */
function isTemplate(value: unknown): boolean {
  if (typeof value !== "string" || !/^https?:\/\/\S+$/.test(value)) return false;
  return URL.canParse(value.replace(/:\{[^}]+\}/g, ":1").replace(/\{[^}]+\}/g, "x"));
}
