import { isThenable } from "../../encoding/maybe-promise.js";
import { isPlainJson } from "../../encoding/plain-json.js";
import { printableLine } from "../../encoding/printable.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import { isObject } from "../../jsonrpc/message.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { Tool } from "../../protocol/features/tools.js";
import { joinPointer } from "../../schema/json-schema/json-pointer.js";
import { compileValidator } from "../../schema/json-schema/validate.js";

/** A tool that clients see with fewer arguments than it has. */
export interface ChangedTool {
  /** The tool with all of its arguments. */
  tool: Tool;
  /** Arguments that get the same value in every call. Callers neither see nor set them. */
  fixed?: Readonly<Record<string, unknown>> | undefined;
  /** Optional arguments that callers neither see nor set. */
  hidden?: readonly string[] | undefined;
}

/**
 * Changes a tool before clients see it. Returns the tool with another name, title or description, or with fewer
 * arguments, or `undefined` to hide it. Receives a copy that it may change. The tool is hidden if the function throws
 * or returns an invalid tool.
 */
export type ToolTransform = (tool: Tool, server: string) => Tool | ChangedTool | undefined;

/** Selects and changes the tools of a server that clients see. */
export interface ToolFilterOptions {
  /** Tools to show, by the names that the server uses; `*` matches any characters. Default: all tools. */
  allow?: readonly string[] | undefined;
  /** Tools to hide, even if `allow` matches them. Default: none. */
  deny?: readonly string[] | undefined;
  /** Changes each remaining tool. Default: tools stay as they are. */
  transform?: ToolTransform | undefined;
}

/** A call with the name and the arguments that the server expects. */
export interface InnerCall {
  readonly name: string;
  readonly args: Record<string, unknown> | undefined;
}

interface ShownTool {
  /** The name that the server uses. */
  readonly name: string;
  readonly fixed: Readonly<Record<string, unknown>>;
  readonly hidden: readonly string[];
}

const MAX_NAME_LENGTH = 128;

/** Hides and changes the tools of servers. */
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

  /** Returns the tools of a server that clients see. Never throws: errors of single tools are in `problems`. */
  apply(server: string, tools: readonly Tool[]): FilteredTools {
    const shown = new Map<string, ShownTool>();
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

  #changed(tool: Tool, server: string): { tool: Tool; shown: ShownTool } | undefined {
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
  if (!isObject(tool) || !isPlainJson(tool))
    throw misused("no tool", "Return a tool of plain JSON values, or `undefined`.");
  const { name, inputSchema } = tool;
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME_LENGTH) {
    throw misused("a tool without a usable name", `Use a name of 1 to ${MAX_NAME_LENGTH} characters.`);
  }
  for (const member of ["title", "description"] as const) {
    const text = tool[member];
    if (text !== undefined && typeof text !== "string")
      throw misused(`a ${member} that is not a string`, "Return a string.");
  }
  if (!isObject(inputSchema) || inputSchema["type"] !== "object") {
    throw misused("a tool without a schema", 'Return an `inputSchema` with `type: "object"`.');
  }
  if (!isObject(fixed) || !isPlainJson(fixed)) throw misused("`fixed` values that JSON cannot hold", "Use plain JSON.");
  if (!Array.isArray(hidden)) throw misused("`hidden` that is not an array", "Return an array of argument names.");
  checkHidden(inputSchema, fixed, hidden);
  checkFixedValues(inputSchema, fixed);
  // Safe: the members used here have been checked; the others are passed on unchanged.
  return { tool: tool as unknown as Tool, fixed, hidden };
}

function checkHidden(schema: Record<string, unknown>, fixed: object, hidden: readonly unknown[]): void {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  for (const name of [...Object.keys(fixed), ...hidden]) {
    if (typeof name === "string" && Object.hasOwn(properties, name)) continue;
    throw misused(`the unknown argument "${String(name)}" to hide`, "Name an argument that the tool has.");
  }
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const missing = hidden.find((name) => required.includes(name) && !Object.hasOwn(fixed, String(name)));
  if (missing === undefined) return;
  throw misused(`the required argument "${String(missing)}" in \`hidden\``, "Set its value in `fixed`.");
}

/** The tools of one server after a filter. */
export class FilteredTools {
  readonly tools: readonly Tool[];
  /** The errors that made the filter hide tools. */
  readonly problems: readonly McpError[];
  /** Patterns that match no tool of the server. Most are misspelt. */
  readonly unused: readonly string[];
  readonly #shown: ReadonlyMap<string, ShownTool>;

  constructor(
    tools: readonly Tool[],
    problems: readonly McpError[],
    unused: readonly string[],
    shown: ReadonlyMap<string, ShownTool>,
  ) {
    this.tools = tools;
    this.problems = problems;
    this.unused = unused;
    this.#shown = shown;
  }

  /**
   * Returns the call to send to the server. Throws `invalid_params` for tools and arguments that callers do not see.
   */
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

const MAX_PATTERNS = 1000;
const MAX_PATTERN_LENGTH = 256;

/** A list of names and patterns. `*` in a pattern matches any characters, including a literal `*` in a name. */
export class NamePatterns {
  readonly #exact = new Set<string>();
  readonly #wild: { readonly text: string; readonly parts: readonly string[] }[] = [];

  /** Throws `invalid_definition` if `patterns` is not a valid list. `option` names the list in the error. */
  constructor(option: string, patterns: readonly string[]) {
    if (!Array.isArray(patterns) || patterns.length > MAX_PATTERNS || !patterns.every(isPattern)) {
      throw new McpError(
        "invalid_definition",
        `\`${option}\` is not a list of at most ${MAX_PATTERNS} names of 1 to ${MAX_PATTERN_LENGTH} characters`,
        { fix: 'Use names, or patterns with `*` for any characters, such as ["read_*", "search"].' },
      );
    }
    for (const text of patterns) {
      if (!text.includes("*")) this.#exact.add(text);
      else this.#wild.push({ text, parts: text.split("*") });
    }
  }

  matches(name: string): boolean {
    return this.#exact.has(name) || this.#wild.some(({ parts }) => fits(parts, name));
  }

  /** The patterns that match none of the names. Most are misspelt. */
  unused(names: readonly string[]): string[] {
    const known = new Set(names);
    return [
      ...[...this.#exact].filter((name) => !known.has(name)),
      ...this.#wild.filter(({ parts }) => !names.some((name) => fits(parts, name))).map(({ text }) => text),
    ];
  }
}

function isPattern(value: unknown): boolean {
  return typeof value === "string" && value.length > 0 && value.length <= MAX_PATTERN_LENGTH;
}

/** Matches each part at its first occurrence. This needs no backtracking, because `*` matches any characters. */
function fits(parts: readonly string[], name: string): boolean {
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  const end = name.length - last.length;
  if (first.length > end || !name.startsWith(first) || !name.endsWith(last)) return false;
  let from = first.length;
  for (const part of parts.slice(1, -1)) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from <= end;
}

/** Keywords that apply schemas to the same object, and may therefore mention the same properties. */
const LISTS = ["allOf", "anyOf", "oneOf"];
const SINGLE = ["if", "then", "else", "not"];
const MAX_DEPTH = 32;

/**
 * Removes arguments from a schema, including every mention in nested schemas. The remaining constraints assume that the
 * removed arguments are present and valid; the server still validates all arguments. Throws `misuse` if a `$ref` points
 * to a removed argument, or if the schema is nested too deeply.
 */
function withoutProperties(schema: Tool["inputSchema"], names: readonly string[]): Tool["inputSchema"] {
  if (names.length === 0) return schema;
  const text = JSON.stringify(schema);
  const referred = names.find((name) => text.includes(JSON.stringify(joinPointer("#/properties", name)).slice(0, -1)));
  if (referred !== undefined) {
    throw new McpError("misuse", `"${referred}" cannot be hidden: the schema refers to it by \`$ref\``, {
      fix: "Return a schema without that reference.",
    });
  }
  // Safe: `type` stays unchanged.
  return strip(schema, new Set(names), 0) as Tool["inputSchema"];
}

function strip(schema: Record<string, unknown>, names: ReadonlySet<string>, depth: number): Record<string, unknown> {
  if (depth > MAX_DEPTH) throw new McpError("misuse", `the schema is nested deeper than ${MAX_DEPTH} levels`);
  const result = { ...schema };
  const inside = (part: unknown) => (isObject(part) ? strip(part, names, depth + 1) : part);
  const members = (part: unknown, change: (value: unknown) => unknown) =>
    isObject(part)
      ? Object.fromEntries(
          Object.entries(part)
            .filter(([name]) => !names.has(name))
            .map(([name, value]) => [name, change(value)]),
        )
      : part;
  const without = (list: unknown) =>
    Array.isArray(list) ? list.filter((name: unknown) => typeof name !== "string" || !names.has(name)) : list;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "properties") result[keyword] = members(value, (same) => same);
    else if (keyword === "required") result[keyword] = without(value);
    else if (keyword === "dependentRequired") result[keyword] = members(value, without);
    else if (keyword === "dependentSchemas") result[keyword] = members(value, inside);
    else if (LISTS.includes(keyword) && Array.isArray(value)) result[keyword] = value.map(inside);
    else if (SINGLE.includes(keyword)) result[keyword] = inside(value);
  }
  return result;
}

/** Throws `misuse` if the tool does not accept one of the fixed values. */
function checkFixedValues(schema: Record<string, unknown>, fixed: Readonly<Record<string, unknown>>): void {
  if (Object.keys(fixed).length === 0) return;
  const { $schema, $defs, definitions, properties } = schema;
  const own = Object.entries(Object(properties)).filter(([name]) => Object.hasOwn(fixed, name));
  const part = { $schema, $defs, definitions, properties: Object.fromEntries(own) };
  const result = compileValidator(part).validate(fixed);
  if (result.valid) return;
  const [first] = result.errors;
  throw new McpError("misuse", `the fixed value at ${first?.path} is not valid: ${first?.message}`, {
    fix: "Use a value that the tool accepts.",
  });
}
