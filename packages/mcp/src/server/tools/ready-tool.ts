import { withoutUndefined } from "../../encoding/with-defaults.js";
import { type ParamHeader, paramHeaderTable } from "../../era/param-headers.js";
import { promisesObject } from "../../era/wrapped-output.js";
import type { ClientCapabilityPath } from "../../protocol/capabilities.js";
import { checkOptions } from "../../protocol/check-options.js";
import { compileSchema } from "../../protocol/compile-schema.js";
import { McpError } from "../../protocol/error.js";
import type { Tool as WireTool } from "../../protocol/features/tools.js";
import { metaWithMode } from "../../protocol/tool-mode.js";
import { type CoercionResult, prepareCoercion } from "../../schema/coerce.js";
import type { Parser } from "../../schema/parse.js";
import { type AnySchema, isStandardSchema } from "../../schema/standard.js";
import type { Answer } from "../../transport/transport.js";
import type { ServerConfig } from "../call/server-config.js";
import { checkMeta } from "../contract/check-listed.js";
import type { HandlerContext } from "../contract/context.js";
import type { OwnOffer } from "../contract/offer-options.js";
import type { ToolDefinition, ToolOffer, ToolPolicy } from "../contract/tool.js";
import { type ResultLimit, resultLimit } from "./result-limit.js";
import { type KnownArguments, knownArguments } from "./unknown-arguments.js";

/** A tool, compiled at registration so that calls do not compile anything. */
export interface ReadyTool extends OwnOffer<WireTool> {
  readonly name: string;
  readonly input: Parser;
  readonly output: OutputParser | undefined;
  readonly wrapsOutput: boolean;
  readonly headers: readonly ParamHeader[];
  /** Absent if the schema has nothing to coerce. */
  readonly coerce: ((args: unknown) => CoercionResult) | undefined;
  /** Absent if the schema accepts any argument. */
  readonly known: KnownArguments | undefined;
  readonly reportsUnknown: boolean;
  readonly requires: readonly ClientCapabilityPath[];
  readonly scopes: readonly string[];
  readonly timeoutMs: number | undefined;
  /** Present if the tool has a `concurrency`. */
  readonly limit: CallSlots | undefined;
  readonly resultLimit: ResultLimit | undefined;
  /**
   * Called as a member of the tool, because the handlers of isolated tools read the tool's name from `this`. A
   * disposable handler is disposed of when the server closes.
   */
  readonly handler: ((args: unknown, ctx: HandlerContext) => unknown) & Partial<AsyncDisposable>;
}

/** The properties of a call that `CallSlots` reads or sets. */
export interface EnteringCall {
  readonly signal: AbortSignal;
  /** Set if the call is refused. */
  reply: Pick<Answer, "status" | "retryAfterMs"> | undefined;
}

/** Limits the number of calls that run at the same time. */
export interface CallSlots {
  /**
   * Acquires a slot, immediately or when one is free. Call `leave` for each acquired slot. Throws `limit_exceeded` if
   * the queue is full, unless `waits` is true. The promise rejects without a slot if the call's signal is aborted
   * first. The signal is only read if the call has to wait, because creating a signal takes time.
   */
  enter(call: EnteringCall, key?: string, waits?: boolean): undefined | Promise<void>;
  /** Releases a slot. */
  leave(): void;
}

/** Creates the slots of a tool with a `concurrency`. */
export type SlotsOf = (tool: string, running: number) => CallSlots;

/** The parser of a structured result. */
export interface OutputParser extends Parser {
  /** True if a schema library parses the value and may change it. False if a JSON Schema validates the value. */
  readonly byLibrary: boolean;
}

const NO_ARGUMENTS = { type: "object", additionalProperties: false } as const satisfies AnySchema;

/** Compiles a tool. Throws an error that names the tool if its definition is not valid. */
export function readyTool({ name, definition, handler }: ToolOffer, config: ServerConfig, slotsOf: SlotsOf): ReadyTool {
  const problem = toolNameProblem(name);
  if (problem !== undefined) config.platform.warn(`the name of tool "${name}" ${problem}`);
  checkOptions(
    `tool "${name}"`,
    definition,
    "title description input output annotations icons _meta visibleTo requires scopes concurrency rate task mode ui coerce unknownArguments timeoutMs maxResultBytes overflow",
  );
  checkOptions(
    `\`annotations\` of tool "${name}"`,
    definition.annotations,
    "title readOnlyHint destructiveHint idempotentHint openWorldHint",
  );
  checkMeta(`tool "${name}"`, definition._meta, config);
  const adapter = config.options.toJsonSchema;
  const { input: schema = NO_ARGUMENTS } = definition;
  const input = compileSchema(schema, { io: "input", what: `tool "${name}" input`, adapter });
  if (input.jsonSchema["type"] !== "object") {
    throw new McpError("invalid_definition", `the input schema of tool "${name}" must have type "object"`, {
      fix: "Wrap it in an object, for example by `z.object({ … })`.",
    });
  }
  const table = paramHeaderTable(input.jsonSchema);
  if ("problem" in table) throw new McpError("invalid_definition", `tool "${name}": ${table.problem}`);
  const output = outputParser(name, definition.output, config);
  const running = positive(name, "concurrency", definition.concurrency);
  const policy: ToolPolicy = { ...config.options.tools, ...definition };
  return {
    key: name,
    name,
    item: wireTool(name, definition, input, output),
    input,
    output,
    wrapsOutput: output !== undefined && !promisesObject(output.jsonSchema),
    headers: table.headers,
    coerce: policy.coerce === false ? undefined : prepareCoercion(input.jsonSchema),
    known: knownArguments(input.jsonSchema),
    reportsUnknown: policy.unknownArguments !== "ignore",
    visibleTo: definition.visibleTo,
    requires: definition.requires ?? [],
    scopes: definition.scopes ?? [],
    timeoutMs: positive(name, "timeoutMs", policy.timeoutMs),
    limit: running === undefined ? undefined : slotsOf(name, running),
    resultLimit: resultLimit(name, policy),
    // Sound: the parser checks the arguments against the schema that determines the handler's type.
    handler: handler as ReadyTool["handler"],
  };
}

function outputParser(name: string, schema: AnySchema | undefined, config: ServerConfig): OutputParser | undefined {
  if (schema === undefined) return undefined;
  const parser = compileSchema(schema, {
    io: "output",
    what: `tool "${name}" output`,
    adapter: config.options.toJsonSchema,
  });
  return { ...parser, byLibrary: isStandardSchema(schema) };
}

/** Returns the list entry with its members in a fixed order, so that the list has the same text in every process. */
function wireTool(
  name: string,
  definition: ToolDefinition<AnySchema | undefined, AnySchema | undefined>,
  input: Parser,
  output: Parser | undefined,
): WireTool {
  const { title, description, annotations, icons, mode } = definition;
  const _meta = metaWithMode(name, mode, definition._meta);
  const { jsonSchema: inputSchema } = input;
  const outputSchema = output?.jsonSchema;
  const wire = withoutUndefined({ name, title, description, inputSchema, outputSchema, annotations, icons, _meta });
  // `readyTool` has checked that the input schema has type object, which the wire type requires.
  return wire as unknown as WireTool;
}

function positive(name: string, option: string, value: number | undefined): number | undefined {
  if (value === undefined || value > 0) return value;
  throw new McpError("invalid_definition", `\`${option}\` of tool "${name}" is ${value}`, {
    fix: "Pass a number above 0, or leave it out.",
  });
}

const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * Returns the reason why some clients may refuse the name of a tool. Undefined if the name follows the specification.
 *
 * Spec: Tools, "Tool Names", https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names
 */
export function toolNameProblem(name: string): string | undefined {
  if (TOOL_NAME.test(name)) return undefined;
  if (name.length > 128) return `has ${name.length} characters; some clients allow at most 128`;
  return "has characters other than letters, digits, underscore, hyphen and dot; some clients refuse it";
}
