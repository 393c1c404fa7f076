import { type ParamHeader, paramHeaderTable } from "../../era/param-headers.js";
import { promisesObject } from "../../era/wrapped-output.js";
import { isObject } from "../../jsonrpc/message.js";
import { compileSchema } from "../../protocol/compile-schema.js";
import type { ServerFacts } from "../call/facts.js";
import type { OutputParser } from "../tools/ready-tool.js";

/** What a tool's calls are held to: what the handler said about it in a list. */
export interface DescribedTool {
  readonly output: OutputParser | undefined;
  /** Whether its output schema does not promise an object. */
  readonly wrapsOutput: boolean;
  readonly headers: readonly ParamHeader[];
}

/** Reads one page of the list as the caller sees it. */
export type ListPage = (
  cursor: string | undefined,
) => Promise<{ readonly tools: readonly unknown[]; readonly nextCursor?: string | undefined }>;

/** More tools are served too, only without a memory of their schemas. */
const MOST_TOOLS = 10_000;
const UNKNOWN: DescribedTool = { output: undefined, wrapsOutput: false, headers: [] };

/** What the lists of a handler object said about its tools, which it tells nowhere else. */
export class ListedTools {
  readonly #facts: ServerFacts;
  readonly #tools = new Map<string, { text: string; tool: DescribedTool }>();
  /** Names that were looked for in all pages, and not found. */
  readonly #missing = new Set<string>();

  constructor(facts: ServerFacts) {
    this.#facts = facts;
  }

  /** Takes note of one page of a list. */
  learn(tools: readonly unknown[]): void {
    for (const tool of tools) {
      if (!isObject(tool) || typeof tool["name"] !== "string") continue;
      const { name, inputSchema, outputSchema } = tool;
      const text = JSON.stringify([inputSchema, outputSchema]);
      if (this.#tools.get(name)?.text === text) continue;
      this.#missing.delete(name);
      if (this.#tools.size < MOST_TOOLS || this.#tools.has(name)) {
        this.#tools.set(name, { text, tool: this.#compiled(name, inputSchema, outputSchema) });
      }
    }
  }

  /** What is known about a tool. The first call of each name looks for it in the list. */
  async find(name: string, list: ListPage): Promise<DescribedTool> {
    const known = this.#tools.get(name)?.tool;
    if (known !== undefined || this.#missing.has(name)) return known ?? UNKNOWN;
    // A list that fails says nothing against the call.
    return this.lookUp(name, list).catch(() => UNKNOWN);
  }

  /** Reads the list again until the tool is found: callers may see different ones, and a list may have changed. */
  async lookUp(name: string, list: ListPage): Promise<DescribedTool> {
    let cursor: string | undefined;
    for (let page = 0; page < MOST_TOOLS; page++) {
      const { tools, nextCursor } = await list(cursor);
      this.learn(tools);
      if (tools.some((tool) => isObject(tool) && tool["name"] === name)) return this.#tools.get(name)?.tool ?? UNKNOWN;
      if (nextCursor === undefined) break;
      cursor = nextCursor;
    }
    if (this.#missing.size >= MOST_TOOLS) this.#missing.clear();
    this.#missing.add(name);
    return UNKNOWN;
  }

  #compiled(name: string, inputSchema: unknown, outputSchema: unknown): DescribedTool {
    const table = paramHeaderTable(inputSchema);
    if ("problem" in table) this.#facts.platform.warn(`tool "${name}": ${table.problem}`);
    return {
      output: isObject(outputSchema) ? this.#output(name, outputSchema) : undefined,
      wrapsOutput: isObject(outputSchema) && !promisesObject(outputSchema),
      headers: "problem" in table ? [] : table.headers,
    };
  }

  #output(name: string, schema: Record<string, unknown>): OutputParser | undefined {
    const what = `tool "${name}" output`;
    try {
      return { ...compileSchema(schema, { io: "output", what, adapter: undefined }), byLibrary: false };
    } catch (error) {
      this.#facts.platform.warn(`results are not checked: ${String(error)}`);
      return undefined;
    }
  }
}
