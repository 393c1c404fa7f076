import type { ClientEra } from "../../era/era.js";
import { McpError } from "../../protocol/error.js";
import type { CallToolResult, Tool } from "../../protocol/features/tools.js";
import { compileValidator, type Validator } from "../../schema/json-schema/validate.js";
import { SchemaError } from "../../schema/schema-error.js";
import type { CallExtras } from "../call/requester.js";

/** Tools of one server that are remembered; a server with more is served, only without the checks for the rest. */
const MAX_TOOLS = 10_000;

/** What calls have to know of a tool that the server listed. */
export interface ListedTool {
  /** What goes with every call of it, if anything does. */
  extras: CallExtras | undefined;
  outputSchema: unknown;
  /** Made at the first use. */
  output?: Validator | McpError;
}

/** Remembers listed tools in `known`. Gives those that can be called; the others are named to `warn`. */
export function learnTools(
  known: Map<string, ListedTool>,
  tools: readonly Tool[],
  era: ClientEra,
  warn: (message: string) => void,
): Tool[] {
  return tools.filter((tool) => {
    const { name, inputSchema, outputSchema, annotations } = tool;
    const mirrored = era.mirroredParams(inputSchema);
    if ("problem" in mirrored) {
      warn(`the tool "${name}" was left out: ${mirrored.problem}`);
      return false;
    }
    const idempotent = annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
    const { headers } = mirrored;
    const extras = idempotent || headers.length > 0 ? { idempotent, mirrored: headers } : undefined;
    if (known.size < MAX_TOOLS || known.has(name)) known.set(name, { extras, outputSchema });
    return true;
  });
}

/** Throws when a result does not keep what the tool's output schema promises. A failed tool promises nothing. */
export function checkOutput(name: string, tool: ListedTool, result: CallToolResult): void {
  if (tool.outputSchema === undefined || result.isError === true) return;
  tool.output ??= compileOutput(name, tool.outputSchema);
  if (McpError.is(tool.output)) throw tool.output;
  if (result.structuredContent === undefined) {
    throw unfit(name, "has no structuredContent, which its output schema promises", { result });
  }
  let verdict: ReturnType<Validator["validate"]>;
  try {
    verdict = tool.output.validate(result.structuredContent);
  } catch (error) {
    throw unusable(name, error);
  }
  if (verdict.valid) return;
  const issues = verdict.errors.map(({ path, message }) => `${path} ${message}`.trim());
  throw unfit(name, `does not fit its output schema: ${issues.join("; ")}`, { result, issues });
}

function compileOutput(name: string, schema: unknown): Validator | McpError {
  try {
    return compileValidator(schema);
  } catch (error) {
    return unusable(name, error);
  }
}

function unusable(name: string, error: unknown): McpError {
  if (!(error instanceof SchemaError)) throw error;
  const kind = error.code === "too_complex" ? "limit_exceeded" : "invalid_schema";
  const what = error.code === "too_complex" ? "is too complex" : "cannot be used";
  return new McpError(kind, `the output schema of tool "${name}" ${what}: ${error.message}`, {
    cause: error,
    fix: "Tell the server's authors, or pass `checkOutput: false` to take results unchecked.",
  });
}

function unfit(name: string, what: string, data: object): McpError {
  return new McpError("invalid_response", `the result of tool "${name}" ${what}`, {
    data,
    fix: "Tell the server's authors, or pass `checkOutput: false` to take results unchecked; `data.result` has this one.",
  });
}
