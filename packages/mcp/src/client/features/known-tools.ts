import { type ParamHeader, paramHeaders, paramHeaderTable } from "../../era/param-headers.js";
import { McpError } from "../../protocol/error.js";
import type { CallToolResult, Tool } from "../../protocol/features/tools.js";
import { compileValidator, type Validator } from "../../schema/json-schema/validate.js";
import { SchemaError } from "../../schema/schema-error.js";

/** Tools of one server that are remembered; a server with more is served, only without the checks for the rest. */
const MAX_TOOLS = 10_000;

/** What calls have to know of a tool beside its name. */
export interface KnownTool {
  headers: readonly ParamHeader[];
  /** The tool says of itself that it can be repeated. */
  idempotent: boolean;
  outputSchema: unknown;
  /** Made at the first use. */
  output?: Validator | McpError;
}

/** The tools that one connection has listed. */
export class ToolBook {
  readonly #tools = new Map<string, KnownTool>();
  readonly #mirrors: () => boolean;

  constructor(mirrors: () => boolean) {
    this.#mirrors = mirrors;
  }

  /** Whether requests have to repeat annotated arguments in headers. */
  get mirrors(): boolean {
    return this.#mirrors();
  }

  get(name: string): KnownTool | undefined {
    return this.#tools.get(name);
  }

  /** Forgets everything: the server changed its tools, or is another one. */
  clear(): void {
    this.#tools.clear();
  }

  /** Remembers listed tools. Gives those that can be called; the others are named to `warn`. */
  learn(tools: readonly Tool[], warn: (message: string) => void): Tool[] {
    const { mirrors } = this;
    return tools.filter((tool) => {
      const table = mirrors ? paramHeaderTable(tool.inputSchema) : { headers: [] };
      if ("problem" in table) {
        warn(`the tool "${tool.name}" was left out: ${table.problem}`);
        return false;
      }
      const { readOnlyHint, idempotentHint } = tool.annotations ?? {};
      const idempotent = readOnlyHint === true || idempotentHint === true;
      if (this.#tools.size < MAX_TOOLS || this.#tools.has(tool.name)) {
        this.#tools.set(tool.name, { headers: table.headers, idempotent, outputSchema: tool.outputSchema });
      }
      return true;
    });
  }
}

/** The headers that repeat the arguments of a call, if there are any. */
export function headersFor(known: KnownTool | undefined, args: unknown): Record<string, string> | undefined {
  if (known === undefined || known.headers.length === 0) return undefined;
  return paramHeaders(known.headers, args);
}

/** Throws when a result does not keep what the tool's output schema promises. A failed tool promises nothing. */
export function checkOutput(name: string, known: KnownTool, result: CallToolResult): void {
  if (known.outputSchema === undefined || result.isError === true) return;
  known.output ??= compileOutput(name, known.outputSchema);
  if (McpError.is(known.output)) throw known.output;
  if (result.structuredContent === undefined) {
    throw unfit(name, "has no structuredContent, which its output schema promises", { result });
  }
  let verdict: ReturnType<Validator["validate"]>;
  try {
    verdict = known.output.validate(result.structuredContent);
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
