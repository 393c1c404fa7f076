import type { Prompt, ResourceTemplate, Tool } from "@parley/mcp/protocol";
import { ModuleNames, typeName } from "./module-names.js";
import { isSchemaObject } from "./schema-reference.js";
import { declareSchema } from "./schema-type.js";
import type { ServerOffers } from "./server-offers.js";
import { docComment, memberName, stringLiteral } from "./source-literal.js";

/** One function of a generated module. */
export interface TypedFunction {
  readonly kind: "tool" | "prompt" | "template";
  /** The server's name for the tool or prompt, or the URI template. */
  readonly source: string;
  readonly name: string;
  /** Declarations of the types for arguments and result. */
  readonly types: string;
  readonly comment: string;
  /** The second parameter of the function, after `client`. */
  readonly parameter: { readonly name: string; readonly optional: boolean; readonly type: string };
  readonly result: string;
  /** The expression for the tool name, prompt name or URI. */
  readonly target: string;
}

/** A module of typed calls, independent of the output language. */
export interface TypedModule {
  readonly server: string;
  readonly functions: readonly TypedFunction[];
}

/** Creates one function for each tool, prompt and simple resource template. */
export function typedModule({ server, tools, prompts, templates }: ServerOffers): TypedModule {
  const names = new ModuleNames();
  const simple = simpleTemplates(templates);
  const named = {
    tools: names.functions(tools.map(({ name }) => name)),
    prompts: names.functions(
      prompts.map(({ name }) => name),
      "Prompt",
    ),
    templates: names.functions(
      simple.map(({ label }) => label),
      "Resource",
    ),
  };
  return {
    server,
    functions: [
      ...tools.map((tool) => toolFunction(tool, named.tools.get(tool.name) ?? "", names)),
      ...prompts.map((prompt) => promptFunction(prompt, named.prompts.get(prompt.name) ?? "", names)),
      ...simple.map((template) => templateFunction(template, named.templates.get(template.label) ?? "")),
    ],
  };
}

function toolFunction(tool: Tool, name: string, names: ModuleNames): TypedFunction {
  const args = names.reserve(`${typeName(name)}Arguments`, tool.name);
  const result = tool.outputSchema === undefined ? "string" : names.reserve(`${typeName(name)}Result`, tool.name);
  const output = tool.outputSchema === undefined ? "" : declareSchema(result, tool.outputSchema, names);
  return {
    kind: "tool",
    source: tool.name,
    name,
    types: declareSchema(args, tool.inputSchema, names) + output,
    comment: docComment(tool.description ?? tool.title ?? ""),
    parameter: { name: "args", optional: needsNothing(tool.inputSchema), type: args },
    result,
    target: stringLiteral(tool.name),
  };
}

/** True if a call may omit the arguments. */
function needsNothing(schema: unknown): boolean {
  if (!isSchemaObject(schema)) return false;
  const { required } = schema;
  if (["$ref", "allOf", "anyOf", "oneOf", "const", "enum"].some((keyword) => schema[keyword] !== undefined))
    return false;
  return !Array.isArray(required) || required.length === 0;
}

function promptFunction(prompt: Prompt, name: string, names: ModuleNames): TypedFunction {
  const type = names.reserve(`${typeName(name)}Arguments`, prompt.name);
  const given = [...(prompt.arguments ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  const schema = {
    type: "object",
    properties: Object.fromEntries(given.map(({ name, description }) => [name, { type: "string", description }])),
    required: given.filter(({ required }) => required === true).map(({ name }) => name),
    additionalProperties: false,
  };
  return {
    kind: "prompt",
    source: prompt.name,
    name,
    types: declareSchema(type, schema, names),
    comment: docComment(prompt.description ?? prompt.title ?? ""),
    parameter: { name: "args", optional: schema.required.length === 0, type },
    result: "GetPromptResult",
    target: stringLiteral(prompt.name),
  };
}

interface SimpleTemplate {
  readonly label: string;
  readonly template: ResourceTemplate;
  /** The parts of the URI template: text and names of variables in turn, starting with text. */
  readonly parts: readonly string[];
}

/**
 * Returns the templates whose variables all have the plain form `{name}`. Other forms need expansion rules that the
 * generated module does not contain.
 */
function simpleTemplates(templates: readonly ResourceTemplate[]): SimpleTemplate[] {
  const uses = new Map<string, number>();
  for (const { name } of templates) uses.set(name, (uses.get(name) ?? 0) + 1);
  return templates.flatMap((template) => {
    const { name, uriTemplate } = template;
    const parts = uriTemplate.split(/\{(\w+)\}/);
    if (parts.length < 2 || parts.some((part, at) => at % 2 === 0 && /[{}]/.test(part))) return [];
    return [{ label: uses.get(name) === 1 ? name : `${name} ${uriTemplate}`, template, parts }];
  });
}

function templateFunction({ template, parts }: SimpleTemplate, name: string): TypedFunction {
  const variables = [...new Set(parts.filter((_, at) => at % 2 === 1))].sort();
  const pieces = parts.map((part, at) => {
    return at % 2 === 0 ? (part === "" ? [] : [stringLiteral(part)]) : [`expanded(variables[${stringLiteral(part)}])`];
  });
  return {
    kind: "template",
    source: template.uriTemplate,
    name,
    types: "",
    comment: docComment(template.description ?? template.title ?? ""),
    parameter: {
      name: "variables",
      optional: false,
      type: `{ ${variables.map((variable) => `${memberName(variable)}: string`).join("; ")} }`,
    },
    result: "ReadResourceResult",
    target: pieces.flat().join(" + "),
  };
}
