import { isThenable } from "../../encoding/maybe-promise.js";
import { isPlainJson } from "../../encoding/plain-json.js";
import { printableLine } from "../../encoding/printable.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import { isObject } from "../../jsonrpc/message.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { Tool } from "../../protocol/features/tools.js";
import { NamePatterns } from "./name-pattern.js";
import { checkFixedValues, withoutProperties } from "./without-properties.js";

/** A tool that is shown with fewer arguments than it has. */
export interface ChangedTool {
  /** The tool with all its arguments. */
  tool: Tool;
  /** Arguments that every call gets with these values. Callers neither see nor set them. */
  fixed?: Readonly<Record<string, unknown>> | undefined;
  /** Optional arguments that callers neither see nor set. */
  hidden?: readonly string[] | undefined;
}

/**
 * Changes a tool before clients see it: returns it with another name, title or description, or with fewer arguments, or
 * `undefined` to hide it. Gets a copy that it may change. If it throws, or what it returns is not usable, the tool is hidden.
 */
export type ToolTransform = (tool: Tool, server: string) => Tool | ChangedTool | undefined;

/** Which tools of a server clients see, and how. */
export interface ToolFilterOptions {
  /** Names that the server gives to tools; `*` stands for any characters. Default: all tools. */
  allow?: readonly string[] | undefined;
  /** Tools to hide, also where `allow` has them. Default: none. */
  deny?: readonly string[] | undefined;
  /** Changes each remaining tool. Default: they stay as they are. */
  transform?: ToolTransform | undefined;
}

/** A call as the server is to get it. */
export interface InnerCall {
  readonly name: string;
  readonly args: Record<string, unknown> | undefined;
}

interface Shown {
  /** The name that the server knows. */
  readonly name: string;
  readonly fixed: Readonly<Record<string, unknown>>;
  readonly hidden: readonly string[];
}

const LONGEST_NAME = 128;

/** Hides and changes tools of servers. */
export class ToolFilter {
  readonly #allow: NamePatterns | undefined;
  readonly #deny: NamePatterns | undefined;
  readonly #transform: ToolTransform | undefined;

  constructor(options: ToolFilterOptions = {}) {
    checkOptions("a tool filter", options, "allow deny transform");
    const { allow, deny, transform } = options;
    if (allow !== undefined) this.#allow = new NamePatterns("allow", allow);
    if (deny !== undefined) this.#deny = new NamePatterns("deny", deny);
    if (transform !== undefined && typeof transform !== "function") {
      throw new McpError("invalid_definition", "`transform` of a tool filter is not a function");
    }
    this.#transform = transform;
  }

  /** The tools of a server as clients may see them. Never throws: what goes wrong with a tool is in `problems`. */
  apply(server: string, tools: readonly Tool[]): FilteredTools {
    const shown = new Map<string, Shown>();
    const problems: McpError[] = [];
    const visible: Tool[] = [];
    for (const tool of tools) {
      if (this.#allow?.matches(tool.name) === false || this.#deny?.matches(tool.name) === true) continue;
      try {
        const changed = this.#changed(tool, server);
        if (changed === undefined) continue;
        if (shown.has(changed.tool.name)) {
          throw new McpError("invalid_definition", `there is already a tool "${changed.tool.name}"`);
        }
        shown.set(changed.tool.name, changed.shown);
        visible.push(changed.tool);
      } catch (error) {
        const message = `the tool "${printableLine(tool.name)}" is hidden: ${thrownMessage(error)}`;
        const fix = McpError.is(error) ? error.fix : "Correct `transform`.";
        problems.push(new McpError("invalid_definition", message, { cause: error, fix }));
      }
    }
    const names = tools.map(({ name }) => name);
    const unused = [...(this.#allow?.unused(names) ?? []), ...(this.#deny?.unused(names) ?? [])];
    return new FilteredTools(visible, problems, unused, shown);
  }

  #changed(tool: Tool, server: string): { tool: Tool; shown: Shown } | undefined {
    const { name } = tool;
    if (this.#transform === undefined) return { tool, shown: { name, fixed: {}, hidden: [] } };
    const returned: unknown = this.#transform(structuredClone(tool), server);
    if (returned === undefined) return undefined;
    if (isThenable(returned)) {
      Promise.resolve(returned).catch(() => {});
      throw misused("a promise", "Return the tool itself.");
    }
    const change = isObject(returned) && "tool" in returned ? returned : { tool: returned };
    const { tool: changed, fixed = {}, hidden = [] } = checkedChange(change);
    const inputSchema = withoutProperties(changed.inputSchema, [...Object.keys(fixed), ...hidden]);
    return { tool: { ...changed, inputSchema }, shown: { name, fixed, hidden } };
  }
}

function misused(what: string, fix: string): McpError {
  return new McpError("misuse", `\`transform\` returned ${what}`, { fix });
}

function checkedChange(change: Record<string, unknown>): ChangedTool {
  checkOptions("a changed tool", change as unknown as ChangedTool, "tool fixed hidden");
  const { tool, fixed = {}, hidden = [] } = change;
  if (!isObject(tool) || !isPlainJson(tool)) throw misused("no tool", "Return a tool as JSON has it, or `undefined`.");
  const { name, inputSchema } = tool;
  if (typeof name !== "string" || name === "" || name.length > LONGEST_NAME) {
    throw misused("a tool without a usable name", `Use a name of 1 to ${LONGEST_NAME} characters.`);
  }
  for (const member of ["title", "description"] as const) {
    const text = tool[member];
    if (text !== undefined && typeof text !== "string")
      throw misused(`a ${member} that is no text`, "Return a string.");
  }
  if (!isObject(inputSchema) || inputSchema["type"] !== "object") {
    throw misused("a tool without a schema", 'Return an `inputSchema` with `type: "object"`.');
  }
  if (!isObject(fixed) || !isPlainJson(fixed)) throw misused("`fixed` values that JSON cannot hold", "Use plain JSON.");
  if (!Array.isArray(hidden)) throw misused("`hidden` that is no list", "Return a list of names of arguments.");
  checkHidden(inputSchema, fixed, hidden);
  checkFixedValues(inputSchema, fixed);
  // Safe: the members that are used here have been checked; the others are passed on as they are.
  return { tool: tool as unknown as Tool, fixed, hidden };
}

function checkHidden(schema: Record<string, unknown>, fixed: object, hidden: readonly unknown[]): void {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  for (const name of [...Object.keys(fixed), ...hidden]) {
    if (typeof name === "string" && Object.hasOwn(properties, name)) continue;
    throw misused(`"${String(name)}" as an argument to hide, which the tool does not have`, "Name one that it has.");
  }
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const missing = hidden.find((name) => required.includes(name) && !Object.hasOwn(fixed, String(name)));
  if (missing === undefined) return;
  throw misused(`"${String(missing)}" as hidden, which the tool requires`, "Give it a value in `fixed`.");
}

/** The tools of one server after a filter. */
export class FilteredTools {
  readonly tools: readonly Tool[];
  /** Why tools are hidden that the filter was not to hide. */
  readonly problems: readonly McpError[];
  /** Patterns that match no tool of the server; often misspelt. */
  readonly unused: readonly string[];
  readonly #shown: ReadonlyMap<string, Shown>;

  constructor(
    tools: readonly Tool[],
    problems: readonly McpError[],
    unused: readonly string[],
    shown: ReadonlyMap<string, Shown>,
  ) {
    this.tools = tools;
    this.problems = problems;
    this.unused = unused;
    this.#shown = shown;
  }

  /** The call that the server is to get. Throws `invalid_params` for tools and arguments that callers do not see. */
  innerCall(name: string, args: Record<string, unknown> | undefined): InnerCall {
    const shown = this.#shown.get(name);
    if (shown === undefined) throw new McpError("invalid_params", `unknown tool: ${printableLine(name)}`);
    const { fixed, hidden } = shown;
    const refused = Object.keys(args ?? {}).find((key) => Object.hasOwn(fixed, key) || hidden.includes(key));
    if (refused !== undefined) {
      throw new McpError("invalid_params", `the tool "${printableLine(name)}" has no argument "${refused}"`, {
        fix: "Leave it out.",
      });
    }
    return { name: shown.name, args: Object.keys(fixed).length === 0 ? args : { ...args, ...structuredClone(fixed) } };
  }
}
