import { isThenable } from "../../encoding/maybe-promise.js";
import { McpError } from "../../protocol/error.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import { SchemaError } from "../../schema/json-schema/schema-error.js";
import { describeIssues, type ParseIssue, type ParseResult } from "../../schema/parse.js";
import type { ServerCall } from "../call/server-call.js";
import type { ReadyTool } from "./ready-tool.js";
import { FAILURE } from "./result.js";
import { describeUnknown, unknownArguments, withoutUnknown } from "./unknown-arguments.js";

const CLOSED = "additionalProperties";

/** What the handler receives, or what is wrong with the arguments. */
export type ReadArguments =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly issues: readonly ParseIssue[] };

/** Coerces, parses and checks the arguments of a call. */
export function readArguments(tool: ReadyTool, sent: object, call: ServerCall): ReadArguments | Promise<ReadArguments> {
  const { known } = tool;
  let args: unknown = known === undefined || tool.reportsUnknown ? sent : withoutUnknown(known, sent);
  if (tool.coerce !== undefined) {
    const coerced = tool.coerce(args);
    args = coerced.value;
    if (coerced.coercions.length > 0) call.coercions = coerced.coercions;
  }
  const parsed = parse(tool, args);
  // Coercion keeps an object an object, because the schema has type object.
  return isThenable(parsed)
    ? parsed.then((settled) => judge(tool, args as object, settled))
    : judge(tool, args as object, parsed);
}

function parse(tool: ReadyTool, args: unknown): ParseResult | Promise<ParseResult> {
  try {
    return tool.input.parse(args);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw new McpError(
      "limit_exceeded",
      `the arguments of tool "${tool.name}" are too costly to check: ${error.message}`,
      {
        cause: error,
        data: { limit: error.code },
        fix: "Send smaller arguments, or simplify the schema.",
      },
    );
  }
}

function judge({ known, reportsUnknown }: ReadyTool, args: object, parsed: ParseResult): ReadArguments {
  const unknown = known === undefined || !reportsUnknown ? [] : unknownArguments(known, args);
  if (known === undefined || unknown.length === 0) {
    return parsed.ok ? parsed : { ok: false, message: describeIssues(parsed.issues), issues: parsed.issues };
  }
  const named = unknown.map(({ path, name }) => ({ path: `${path}/${name}`, message: "is not known" }));
  const issues = parsed.ok ? named : parsed.issues;
  // `describeUnknown` replaces the schema's own issues about unknown members, because it suggests the right name.
  const others = parsed.ok ? [] : issues.filter((issue) => !("keyword" in issue) || issue.keyword !== CLOSED);
  const texts = [describeUnknown(unknown, known), ...(others.length === 0 ? [] : [describeIssues(others)])];
  return { ok: false, message: texts.join("; "), issues };
}

/**
 * Answers arguments that do not fit: with a result for the model or, if the server's option says so, a protocol error.
 *
 * Spec: Tools, "Error Handling", https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
 */
export function refuseArguments(
  tool: ReadyTool,
  refused: ReadArguments & { ok: false },
  call: ServerCall,
): CallToolResult {
  const message = `Invalid arguments for tool "${tool.name}": ${refused.message}`;
  if (call.facts.options.invalidArguments === "protocol") {
    throw new McpError("invalid_params", message, { data: { issues: refused.issues } });
  }
  return {
    content: [{ type: "text", text: message }],
    isError: true,
    _meta: {
      [FAILURE]: {
        kind: "invalid_params",
        issues: refused.issues.map(({ path, message: why }) => ({ path, message: why })),
      },
    },
  };
}
