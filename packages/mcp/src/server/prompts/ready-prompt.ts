import { withoutUndefined } from "../../encoding/with-defaults.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { PromptArgument, Prompt as WirePrompt } from "../../protocol/features/prompts.js";
import { describeIssues, type ParseResult } from "../../schema/parse.js";
import { type AnySchema, isStandardSchema } from "../../schema/standard.js";
import type { ServerFacts } from "../call/facts.js";
import type { HandlerContext } from "../context.js";
import type { Offered } from "../lists/catalogue.js";
import type { CompletableArguments, Completer } from "../lists/completion.js";
import { compileSchema } from "../tools/compile-schema.js";
import type { PromptArgumentDefinition, PromptArguments, PromptOffer } from "./prompt.js";
import { isPromptTemplate } from "./template.js";

type Values = Record<string, string>;

/** A prompt made ready at registration. */
export interface ReadyPrompt extends Offered<WirePrompt> {
  readonly arguments: CompletableArguments;
  readonly parse: (values: Values) => ParseResult | Promise<ParseResult>;
  readonly handler: (args: unknown, ctx: HandlerContext) => unknown;
}

interface ReadyArguments {
  readonly wire: readonly PromptArgument[];
  readonly completers: Map<string, Completer | undefined>;
  readonly parse: ReadyPrompt["parse"];
}

export function readyPrompt({ name, definition, handler }: PromptOffer, facts: ServerFacts): ReadyPrompt {
  const { arguments: given, complete = {}, visibleTo, ...said } = definition;
  const ready = readyArguments(name, given ?? placeholdersOf(handler), facts);
  for (const [argument, completer] of Object.entries(complete)) {
    if (!ready.completers.has(argument)) {
      throw new McpError("invalid_definition", `the prompt "${name}" has no argument "${argument}" to complete`);
    }
    ready.completers.set(argument, completer);
  }
  return {
    key: name,
    wire: { name, ...withoutUndefined(said), ...(ready.wire.length === 0 ? {} : { arguments: [...ready.wire] }) },
    visibleTo,
    arguments: ready.completers,
    parse: ready.parse,
    // The parser makes sure that the arguments are what the handler declares.
    handler: handler as ReadyPrompt["handler"],
  };
}

/** A template that is its own handler needs all that it names. */
function placeholdersOf(handler: unknown): Record<string, PromptArgumentDefinition> {
  if (!isPromptTemplate(handler)) return {};
  return Object.fromEntries(handler.placeholders.map((name) => [name, { required: true }]));
}

function readyArguments(name: string, given: PromptArguments, facts: ServerFacts): ReadyArguments {
  // An argument called `type` is an object in the one form, and the word "object" is a schema's in the other.
  if (isStandardSchema(given) || typeof Reflect.get(given, "type") === "string") {
    return bySchema(name, given as AnySchema, facts);
  }
  return byName(given as Record<string, PromptArgumentDefinition>);
}

function byName(given: Readonly<Record<string, PromptArgumentDefinition>>): ReadyArguments {
  const entries = Object.entries(given);
  const known = new Set(entries.map(([name]) => name));
  return {
    wire: entries.map(([name, { complete: _, ...said }]) => ({ name, ...withoutUndefined(said) })),
    completers: new Map(entries.map(([name, { complete }]) => [name, complete])),
    parse(values) {
      const missing = entries.filter(([name, { required }]) => required === true && !Object.hasOwn(values, name));
      const stray = Object.keys(values).filter((name) => !known.has(name));
      if (missing.length === 0 && stray.length === 0) return { ok: true, value: values };
      return {
        ok: false,
        issues: [
          ...missing.map(([name]) => ({ path: "", message: `the required argument "${name}" is missing` })),
          ...stray.map((name) => ({ path: "", message: `there is no argument "${name}"` })),
        ],
      };
    },
  };
}

function bySchema(name: string, schema: AnySchema, facts: ServerFacts): ReadyArguments {
  const what = `prompt "${name}" arguments`;
  const parser = compileSchema(schema, { io: "input", what, adapter: facts.options.toJsonSchema });
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
    completers: new Map(members.map(({ key, member }) => [key, closedSet(member)])),
    parse: (values) => parser.parse(values),
  };
}

/** A closed set of values completes itself. */
function closedSet(member: Record<string, unknown>): Completer | undefined {
  const values = member["enum"];
  if (!Array.isArray(values)) return undefined;
  return values.filter((value): value is string => typeof value === "string");
}

/** The refusal of arguments that do not fit. */
export function badArguments(name: string, { issues }: ParseResult & { ok: false }): McpError {
  return new McpError("invalid_params", `invalid arguments for prompt "${name}": ${describeIssues(issues)}`, {
    data: { issues },
    fix: "List the prompts to see their arguments.",
  });
}
