import { printableLine } from "@parley/mcp/protocol";
import { memberName, stringLiteral } from "./source-literal.js";
import type { TypedFunction, TypedModule } from "./typed-module.js";

/** In which languages a module is written: one file of TypeScript, or JavaScript and declarations beside it. */
export type ModuleLanguage = "ts" | "js" | "d.ts";

/** Writes a module. The same offers give the same text, whatever order the server lists them in. */
export function moduleText(module: TypedModule, language: ModuleLanguage): string {
  const write = { ts: typedFunction, js: plainFunction, "d.ts": functionDeclaration }[language];
  const head = language === "js" ? "" : `${IMPORTS}\n${clientTypes(module)}`;
  const functions = module.functions.map((one) => `\n${write(one)}`).join("");
  return `${header(module)}${head}${functions}${helpers(module, language)}`;
}

/** What somebody reads once of a module in order to call its functions. */
export function declarationHeader(): string {
  return `${IMPORTS}\n${ANY_CLIENT}`;
}

/** What somebody reads of one function in order to call it: its types, its comment and its head. */
export function functionDeclaration(one: TypedFunction): string {
  return `${one.types}${one.comment}export declare function ${one.name}(${signature(one)};\n`;
}

function typedFunction(one: TypedFunction): string {
  const call = TYPED_CALLS[one.kind](one.target);
  return `${one.types}${one.comment}export function ${one.name}(${signature(one)} {\n  return ${call};\n}\n`;
}

function plainFunction({ kind, comment, name, parameter, target }: TypedFunction): string {
  const call = PLAIN_CALLS[kind](target);
  return `${comment}export function ${name}(client, ${parameter.name}, options) {\n  return ${call};\n}\n`;
}

type Calls = Readonly<Record<TypedFunction["kind"], (target: string) => string>>;

const PLAIN_CALLS: Calls = {
  tool: (target) => `client.call(${target}, args, options)`,
  prompt: (target) => `client.getPrompt(${target}, args, options)`,
  template: (target) => `client.readResource(${target}, options)`,
};

/** The same through the methods of `AnyClient`, which know no types: those of the head are the server's. */
const TYPED_CALLS: Calls = {
  tool: (target) => `invoke(client, ${target}, args, options)`,
  prompt: (target) => `client.getPrompt(${target} as never, args as never, options)`,
  template: PLAIN_CALLS.template,
};

function signature({ parameter: { name, optional, type }, result }: TypedFunction): string {
  return `client: AnyClient, ${name}${optional ? "?" : ""}: ${type}, options?: CallOptions): Promise<${result}>`;
}

function header({ server }: TypedModule): string {
  const named = stringLiteral(printableLine(server).slice(0, 100));
  return `// Typed calls of the server ${named}, written by \`parley types\`. Run it again when the server changes.\n/* eslint-disable */\n`;
}

const IMPORTS = `import type { CallOptions, ClientOf, Server } from "@parley/mcp";
import type { GetPromptResult, ReadResourceResult } from "@parley/mcp/protocol";
`;

const ANY_CLIENT = `/** A client of the server, typed or not: what \`connect\` gives. */
export interface AnyClient {
  call(name: never, args: never, options?: CallOptions): Promise<unknown>;
  getPrompt(name: never, args: never, options?: CallOptions): Promise<GetPromptResult>;
  readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult>;
}
`;

/** What the functions take as a client, and what makes a client of its own typed. */
function clientTypes({ functions }: TypedModule): string {
  const members = (kind: TypedFunction["kind"], type: (one: TypedFunction) => string) =>
    functions
      .filter((one) => one.kind === kind)
      .map((one) => `  ${memberName(one.source)}: ${type(one)};\n`)
      .join("");
  const tools = members("tool", ({ parameter, result }) => `{ args: ${parameter.type}; result: ${result} }`);
  const prompts = members("prompt", ({ parameter }) => parameter.type);
  return `${ANY_CLIENT}
/** The tools by name, with their arguments and results. */
export interface Tools {
${tools}}

/** The prompts by name, with their arguments. */
export interface Prompts {
${prompts}}

/** The server's type: \`connect<RemoteServer>(target)\` gives a client whose own methods are typed. */
export type RemoteServer = Server<Record<string, unknown>, Tools, Prompts>;

/** What \`connect<RemoteServer>(target)\` gives. */
export type RemoteClient = ClientOf<RemoteServer>;
`;
}

/** Functions of the module that it does not export. */
function helpers({ functions }: TypedModule, language: ModuleLanguage): string {
  if (language === "d.ts") return "";
  const kinds = new Set(functions.map(({ kind }) => kind));
  const typed = language === "ts";
  const invoke = typed && kinds.has("tool") ? INVOKE : "";
  const expanded = `
/** A value as a part of an address. */
function expanded(value${typed ? ": string" : ""})${typed ? ": string" : ""} {
  return encodeURIComponent(value).replace(/[!'()*]/g, (char) => \`%\${char.charCodeAt(0).toString(16).toUpperCase()}\`);
}
`;
  return invoke + (kinds.has("template") ? expanded : "");
}

const INVOKE = `
/** Calls a tool; its types come from the server's own schemas. */
function invoke<R>(client: AnyClient, name: string, args: unknown, options: CallOptions | undefined): Promise<R> {
  return client.call(name as never, args as never, options) as Promise<R>;
}
`;
