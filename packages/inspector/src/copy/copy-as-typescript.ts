import { type CopiedRequest, isObject, methodOf, ownParams } from "./copied-request.js";
import { copiedHeaders, type TextPart, urlParts } from "./secret-parts.js";
import { pasteableJson } from "./shell-word.js";

/** Maximum nesting depth of literals. Deeper values become a JSON text that the program parses. */
const MAX_DEPTH = 50;

/**
 * Returns a program that sends the request with `connect` of the library. The program reads secrets from the
 * environment.
 */
export function copyAsTypeScript(request: CopiedRequest): string {
  const { kind } = request.target;
  const method = methodOf(request);
  const work = workOf(request, method);
  return [
    'import { connect } from "@parley/mcp";',
    ...(kind === "server" ? ['import { server } from "./server.js"; // the module of your server'] : []),
    "",
    `const client = await connect(${targetText(request)}${optionsText(request)});`,
    "try {",
    ...work.split("\n").map((line) => (line === "" ? line : `  ${line}`)),
    "} finally {",
    "  await client.close();",
    "}",
    "",
  ].join("\n");
}

function workOf(request: CopiedRequest, method: string): string {
  if (method === "initialize" || method === "notifications/initialized") {
    return "console.log(client.protocolVersion, client.serverInfo); // connecting has sent it";
  }
  const params = ownParams(request);
  if (request.message.id === undefined) return `await client.notify(${argumentsText([method, params])});`;
  const call = knownCall(method, params) ?? `request(${argumentsText([method, params])})`;
  return `const result = await client.${call};\nconsole.log(JSON.stringify(result, undefined, 2));`;
}

/**
 * Returns a call to the client method for this kind of request, such as `callTool`. Undefined if the client has no such
 * method, or if the method does not accept all parameters.
 */
function knownCall(method: string, params: Readonly<Record<string, unknown>>): string | undefined {
  const { name, arguments: args, uri, ...rest } = params;
  if (Object.keys(rest).length > 0) return undefined;
  if (method === "resources/read" && typeof uri === "string") return `readResource(${literal(uri)})`;
  if (typeof name !== "string" || uri !== undefined || !(args === undefined || isObject(args))) return undefined;
  if (method === "tools/call") return `callTool(${argumentsText([name, args ?? {}])})`;
  const texts = Object.values(args ?? {}).every((value) => typeof value === "string");
  return method === "prompts/get" && texts ? `getPrompt(${argumentsText([name, args ?? {}])})` : undefined;
}

/** Returns the text of two arguments of a call. Omits the second argument if it is an empty object. */
function argumentsText([first, second]: readonly [string, Readonly<Record<string, unknown>>]): string {
  return Object.keys(second).length === 0 ? literal(first) : `${literal(first)}, ${literal(second)}`;
}

function targetText({ target: { kind, shown, url, command }, transport }: CopiedRequest): string {
  if (kind === "server") return "server";
  const address = partsText(urlParts(url ?? shown));
  if (kind === "url") return transport === "sse" ? `{ url: ${address}, transport: "sse" }` : address;
  const [program = "parley", ...args] = command ?? ["parley", kind === "file" ? "replay" : "run", shown, "--stdio"];
  return `{ command: ${literal(program)}, args: [${args.map((each) => literal(each)).join(", ")}] }`;
}

function optionsText({ revision, target, headers }: CopiedRequest): string {
  const options: string[] = revision === undefined ? [] : [`revisions: [${literal(revision)}]`];
  const own = target.kind === "url" ? copiedHeaders(headers, "own") : [];
  const lines = own.map(({ name, value }) => `    ${keyText(name)}: ${partsText([value])},`);
  if (lines.length > 0) options.push(`headers: {\n${lines.join("\n")}\n  }`);
  return options.length === 0 ? "" : `, {\n${options.map((each) => `  ${each},`).join("\n")}\n}`;
}

function partsText(parts: readonly TextPart[]): string {
  const texts = parts.map((part) =>
    typeof part === "string" ? literal(part) : `(process.env.${part.variable} ?? "")`,
  );
  const [only = '""', ...more] = texts;
  return more.length === 0 ? only.replace(/^\((.*)\)$/, "$1") : texts.join(" + ");
}

/** Returns a value as an expression. Deep values use `JSON.parse`. */
function literal(value: unknown, indent = "", depth = 0): string {
  if (depth > MAX_DEPTH) {
    const text = pasteableJson(value);
    return text === undefined ? "undefined /* nested too deep to be written */" : `JSON.parse(${pasteableJson(text)})`;
  }
  const inner = `${indent}  `;
  const items = Array.isArray(value)
    ? value.map((item) => literal(item, inner, depth + 1))
    : isObject(value)
      ? Object.entries(value).map(([key, member]) => `${keyText(key)}: ${literal(member, inner, depth + 1)}`)
      : undefined;
  if (items === undefined) return pasteableJson(value) ?? "undefined";
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return items.length === 0
    ? `${open}${close}`
    : `${open}\n${items.map((item) => `${inner}${item},`).join("\n")}\n${indent}${close}`;
}

function keyText(key: string): string {
  // A plain `__proto__` key would set the prototype.
  if (key === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : (pasteableJson(key) ?? '""');
}
