import { withoutUndefined } from "../../encoding/with-defaults.js";
import { isObject } from "../../jsonrpc/message.js";
import { checkOptions } from "../../protocol/check-options.js";
import { compileSchema } from "../../protocol/compile-schema.js";
import { McpError } from "../../protocol/error.js";
import type { PromptArgument, Prompt as WirePrompt } from "../../protocol/features/prompts.js";
import { describeIssues, type ParseResult } from "../../schema/parse.js";
import { type AnySchema, isStandardSchema } from "../../schema/standard.js";
import type { ServerConfig } from "../call/server-config.js";
import { checkMeta } from "../contract/check-listed.js";
import type { HandlerContext } from "../contract/context.js";
import type { CompletableArguments, Completer, OwnOffer } from "../contract/offer-options.js";
import type { PromptArgumentDefinition, PromptArguments, PromptOffer } from "../contract/prompt.js";
import { isPromptTemplate } from "./template.js";

type Values = Record<string, string>;

/** A registered prompt with its compiled arguments. */
export interface ReadyPrompt extends OwnOffer<WirePrompt> {
  readonly scopes: readonly string[] | undefined;
  readonly arguments: CompletableArguments;
  readonly parse: (values: Values) => ParseResult | Promise<ParseResult>;
  readonly handler: (args: unknown, ctx: HandlerContext) => unknown;
}

interface ReadyArguments {
  readonly wire: readonly PromptArgument[];
  readonly completers: Map<string, Completer | undefined>;
  readonly parse: ReadyPrompt["parse"];
}

/** Compiles a prompt. Throws if its definition is not valid. */
export function readyPrompt({ name, definition, handler }: PromptOffer, config: ServerConfig): ReadyPrompt {
  checkOptions(`prompt "${name}"`, definition, "title description arguments complete icons _meta visibleTo scopes");
  checkMeta(`prompt "${name}"`, definition._meta, config);
  const { arguments: defined, complete = {}, visibleTo, scopes, ...listed } = definition;
  const ready = readyArguments(name, defined ?? placeholdersOf(handler), config);
  for (const [argument, completer] of Object.entries(complete)) {
    if (!ready.completers.has(argument)) {
      throw new McpError("invalid_definition", `the prompt "${name}" has no argument "${argument}" to complete`);
    }
    ready.completers.set(argument, completer);
  }
  return {
    key: name,
    item: { name, ...withoutUndefined(listed), ...(ready.wire.length === 0 ? {} : { arguments: [...ready.wire] }) },
    visibleTo,
    scopes,
    arguments: ready.completers,
    parse: ready.parse,
    // Sound: the parser checks the arguments against the definition that determines the handler's type.
    handler: handler as ReadyPrompt["handler"],
  };
}

/** Returns a required argument for each placeholder if the handler is a template. */
function placeholdersOf(handler: unknown): Record<string, PromptArgumentDefinition> {
  if (!isPromptTemplate(handler)) return {};
  return Object.fromEntries(handler.placeholders.map((name) => [name, { required: true }]));
}

function readyArguments(name: string, defined: PromptArguments, config: ServerConfig): ReadyArguments {
  // A string as `type` marks a JSON Schema. If `type` is the name of an argument, its value is an object.
  if (isStandardSchema(defined) || typeof Reflect.get(defined, "type") === "string") {
    return bySchema(name, defined as AnySchema, config);
  }
  return byName(name, defined as Record<string, PromptArgumentDefinition>);
}

function byName(prompt: string, definitions: Readonly<Record<string, PromptArgumentDefinition>>): ReadyArguments {
  const entries = Object.entries(definitions);
  for (const [name, definition] of entries) {
    if (isStandardSchema(definition)) {
      throw new McpError("invalid_definition", `the argument "${name}" of prompt "${prompt}" is a schema`, {
        fix: "Pass one schema for all arguments, for example `z.object({ … })`, or describe each: `{ description, required }`.",
      });
    }
    checkOptions(`argument "${name}" of prompt "${prompt}"`, definition, "title description required complete");
  }
  const known = new Set(entries.map(([name]) => name));
  return {
    wire: entries.map(([name, { complete: _, ...listed }]) => ({ name, ...withoutUndefined(listed) })),
    completers: new Map(entries.map(([name, { complete }]) => [name, complete])),
    parse(values) {
      const missing = entries.filter(([name, { required }]) => required === true && !Object.hasOwn(values, name));
      const stray = Object.keys(values).filter((name) => !known.has(name));
      if (missing.length === 0 && stray.length === 0) return { ok: true, value: values };
      return {
        ok: false,
        issues: [
          ...missing.map(([name]) => ({ path: "", message: `the required argument "${name}" is missing` })),
          ...stray.map((name) => ({ path: "", message: `the argument "${name}" does not exist` })),
        ],
      };
    },
  };
}

function bySchema(name: string, schema: AnySchema, config: ServerConfig): ReadyArguments {
  const what = `prompt "${name}" arguments`;
  const parser = compileSchema(schema, { io: "input", what, adapter: config.options.toJsonSchema });
  const { type, properties, required } = parser.jsonSchema;
  if (type !== "object" || (properties !== undefined && !isObject(properties))) {
    throw new McpError("invalid_definition", `the arguments of prompt "${name}" must be an object with properties`);
  }
  const members = Object.entries(properties ?? {}).map(([key, member]) => ({
    key,
    member: isObject(member) ? member : {},
    required: Array.isArray(required) && required.includes(key),
  }));
  return {
    wire: members.map(({ key, member, required: needed }) => ({
      name: key,
      ...(typeof member["title"] === "string" ? { title: member["title"] } : {}),
      ...(typeof member["description"] === "string" ? { description: member["description"] } : {}),
      required: needed,
    })),
    completers: new Map(members.map(({ key, member }) => [key, enumCompleter(member)])),
    parse: (values) => parser.parse(values),
  };
}

/** Returns the values of an enum, as the default completer of the argument. */
function enumCompleter(member: Record<string, unknown>): Completer | undefined {
  const values = member["enum"];
  if (!Array.isArray(values)) return undefined;
  return values.filter((value): value is string => typeof value === "string");
}

/**
 * The error for arguments that do not match the definition.
 *
 * Spec: Prompts, "Error Handling", https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#error-handling
 */
export function badArguments(name: string, { issues }: ParseResult & { ok: false }): McpError {
  return new McpError("invalid_params", `invalid arguments for prompt "${name}": ${describeIssues(issues)}`, {
    data: { issues },
  });
}
