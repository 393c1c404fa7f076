import { type JsonObject, objectOf, objectsOf, textOf } from "./publish-project.js";

/** One way to use a server, with the links and commands that install it. Links have no secrets in them. */
export interface InstallLinks {
  /** The package or the address. */
  readonly source: string;
  /** Opens Cursor. */
  readonly cursor: string;
  /** Opens Cursor from pages that reject links to applications, such as those of GitHub. */
  readonly cursorWeb: string;
  /** Opens VS Code. */
  readonly vscode: string;
  readonly vscodeWeb: string;
  /** A command for a shell. */
  readonly claudeCode: string;
}

/** A configuration with the values that the user must provide. */
interface InstallConfig {
  readonly source: string;
  readonly command?: readonly string[];
  readonly remote?: { readonly type: "http" | "sse"; readonly url: string };
  /** Fixed values of variables or headers. */
  readonly values: Readonly<Record<string, string>>;
  /** Required variables or headers without a value. */
  readonly asked: readonly JsonObject[];
}

/** Returns the links for the package of npm and for every address of a document. */
export function installLinks(document: JsonObject): InstallLinks[] {
  const name = textOf(document["name"])?.split("/").at(-1) ?? "server";
  return installConfigs(document).map((config) => linksOf(name, config));
}

function installConfigs(document: JsonObject): InstallConfig[] {
  const packages = objectsOf(document["packages"]).flatMap((item): InstallConfig[] => {
    const { registryType, identifier, version, transport } = item;
    if (registryType !== "npm" || objectOf(transport)?.["type"] !== "stdio") return [];
    const source = `${identifier}@${version}`;
    const words = objectsOf(item["packageArguments"]).flatMap(argumentWords);
    return [{ source, command: ["npx", "-y", source, ...words], ...inputsOf(item["environmentVariables"]) }];
  });
  const remotes = objectsOf(document["remotes"]).flatMap((item): InstallConfig[] => {
    const url = filledUrl(item);
    if (url === undefined) return [];
    const remote = { type: item["type"] === "sse" ? "sse" : "http", url } as const;
    return [{ source: url, remote, ...inputsOf(item["headers"]) }];
  });
  return [...packages, ...remotes];
}

function argumentWords({ type, name, value }: JsonObject): string[] {
  const text = textOf(value);
  if (type === "named" && typeof name === "string") return text === undefined ? [name] : [name, text];
  return text === undefined ? [] : [text];
}

/** Separates fixed values from those that the user must provide. Optional inputs are left out. */
function inputsOf(list: unknown): Pick<InstallConfig, "values" | "asked"> {
  const inputs = objectsOf(list).filter(({ name }) => typeof name === "string" && /^[\w-]+$/.test(name));
  const isFixed = ({ value, isSecret }: JsonObject) =>
    isSecret !== true && typeof value === "string" && !/\{[^}]+\}/.test(value);
  const fixed = inputs.filter(isFixed);
  return {
    values: Object.fromEntries(fixed.map(({ name, value }) => [String(name), String(value)])),
    asked: inputs.filter((input) => !isFixed(input) && (input["isRequired"] === true || input["value"] !== undefined)),
  };
}

/** Fills the variables of an address by their defaults. Undefined if one has none. */
function filledUrl({ url, variables }: JsonObject): string | undefined {
  let isFilled = true;
  const filled = String(url).replace(/\{([^}]+)\}/g, (_, name: string) => {
    const input = objectOf(objectOf(variables)?.[name]);
    const value = input?.["isSecret"] === true ? undefined : textOf(input?.["value"] ?? input?.["default"]);
    isFilled &&= value !== undefined;
    return value ?? "";
  });
  return isFilled && URL.canParse(filled) ? filled : undefined;
}

function linksOf(name: string, config: InstallConfig): InstallLinks {
  const cursor = `name=${encode(name)}&config=${encode(toBase64(cursorConfig(config)))}`;
  const { inputs, ...vscode } = vscodeConfig(config);
  const asked = inputs.length === 0 ? {} : { inputs };
  const query = Object.entries({ config: vscode, ...asked }).map(
    ([key, value]) => `${key}=${encode(JSON.stringify(value))}`,
  );
  return {
    source: config.source,
    cursor: `cursor://anysphere.cursor-deeplink/mcp/install?${cursor}`,
    cursorWeb: `https://cursor.com/en/install-mcp?${cursor}`,
    vscode: `vscode:mcp/install?${encode(JSON.stringify({ name, ...vscode, ...asked }))}`,
    vscodeWeb: `https://insiders.vscode.dev/redirect/mcp/install?name=${encode(name)}&${query.join("&")}`,
    claudeCode: claudeCommand(name, config),
  };
}

function cursorConfig({ command, remote, values, asked }: InstallConfig): JsonObject {
  const references = asked.map(({ name }) => [String(name), `\${env:${variableName(String(name))}}`]);
  return configOf(command, remote?.url, { ...values, ...Object.fromEntries(references) });
}

function vscodeConfig({ command, remote, values, asked }: InstallConfig): JsonObject & { inputs: JsonObject[] } {
  const references = asked.map(({ name }) => [String(name), `\${input:${name}}`]);
  const inputs = asked.map(({ name, description, isSecret }) => ({
    type: "promptString",
    id: name,
    description: textOf(description) ?? String(name),
    ...(isSecret === true ? { password: true } : {}),
  }));
  const config = configOf(command, remote?.url, { ...values, ...Object.fromEntries(references) });
  return { ...(remote === undefined ? {} : { type: remote.type }), ...config, inputs };
}

function configOf(command: readonly string[] | undefined, url: string | undefined, values: JsonObject): JsonObject {
  const hasValues = Object.keys(values).length > 0;
  if (command === undefined) return { url, ...(hasValues ? { headers: values } : {}) };
  const [program, ...args] = command;
  return { command: program, args, ...(hasValues ? { env: values } : {}) };
}

/** Builds a command that takes values from the variables of the user's shell. */
function claudeCommand(name: string, { command, remote, values, asked }: InstallConfig): string {
  const named = asked.map((input) => String(input["name"]));
  if (remote !== undefined) {
    const fixed = Object.entries(values).map(([header, value]) => quote(`${header}: ${value}`));
    const headers = [...fixed, ...named.map((header) => `"${header}: $${variableName(header)}"`)];
    const words = ["claude mcp add --transport", remote.type, quote(name), quote(remote.url)];
    return [...words, ...headers.map((header) => `--header ${header}`)].join(" ");
  }
  const fixed = Object.entries(values).map(([variable, value]) => quote(`${variable}=${value}`));
  const env = [...fixed, ...named.map((variable) => `${variable}="$${variableName(variable)}"`)];
  // `--env` accepts several values, so another option must separate it from the name.
  const options = [...env.map((pair) => `--env ${pair}`), "--transport stdio"];
  return ["claude mcp add", ...options, quote(name), "--", ...(command ?? []).map(quote)].join(" ");
}

function variableName(name: string): string {
  return name.replace(/\W/g, "_").toUpperCase();
}

/** Quotes a word for a POSIX shell. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function encode(text: string): string {
  return escapeUrl(encodeURIComponent(text));
}

/** Escapes characters that would end a link in Markdown. */
function escapeUrl(url: string): string {
  return url.replace(/[!'()*`]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function toBase64(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64");
}

/** Builds buttons and commands for a page in Markdown. */
export function installMarkdown(document: JsonObject): string {
  const parts = installLinks(document).map(({ cursorWeb, vscodeWeb, claudeCode }) => {
    const longest = Math.max(2, ...[...claudeCode.matchAll(/`+/g)].map(([run]) => run.length));
    const fence = "`".repeat(longest + 1);
    return [
      `[![Install in Cursor](https://cursor.com/deeplink/mcp-install-dark.svg)](${cursorWeb})`,
      `[![Install in VS Code](https://img.shields.io/badge/VS_Code-Install_Server-0098FF)](${vscodeWeb})`,
      "",
      "Claude Code:",
      "",
      `${fence}sh`,
      claudeCode,
      fence,
    ].join("\n");
  });
  const bundles = objectsOf(document["packages"]).filter(({ registryType }) => registryType === "mcpb");
  const downloads = bundles.flatMap(({ identifier }) =>
    URL.canParse(String(identifier)) && /^https:/i.test(String(identifier))
      ? [`Claude Desktop: [download the bundle](${escapeUrl(new URL(String(identifier)).href)}) and open it.`]
      : [],
  );
  return [...parts, ...downloads].join("\n\n");
}
