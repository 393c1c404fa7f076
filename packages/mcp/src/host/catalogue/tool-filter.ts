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

const MOST_PATTERNS = 1000;
const LONGEST_PATTERN = 256;

/** Names, some with `*` for any characters; a `*` of a name itself is matched by `*` too. */
export class NamePatterns {
  readonly #exact = new Set<string>();
  readonly #wild: { readonly text: string; readonly parts: readonly string[] }[] = [];

  /** Throws `invalid_definition` for what is not a list of patterns; `option` is its name. */
  constructor(option: string, patterns: readonly string[]) {
    if (!Array.isArray(patterns) || patterns.length > MOST_PATTERNS || !patterns.every(isPattern)) {
      throw new McpError(
        "invalid_definition",
        `\`${option}\` is not a list of at most ${MOST_PATTERNS} names of 1 to ${LONGEST_PATTERN} characters`,
        { fix: 'Write names, or names with `*` for any characters, such as ["read_*", "search"].' },
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

  /** The patterns that match none of the names; often a misspelt one. */
  unused(names: readonly string[]): string[] {
    const known = new Set(names);
    return [
      ...[...this.#exact].filter((name) => !known.has(name)),
      ...this.#wild.filter(({ parts }) => !names.some((name) => fits(parts, name))).map(({ text }) => text),
    ];
  }
}

function isPattern(value: unknown): boolean {
  return typeof value === "string" && value.length > 0 && value.length <= LONGEST_PATTERN;
}

/** Takes each part at its first place, which never has to be taken back. */
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

/** Keywords that apply schemas to the same object, so that they may name the same properties. */
const LISTS = ["allOf", "anyOf", "oneOf"];
const SINGLE = ["if", "then", "else", "not"];
const MOST_NESTED = 32;

/**
 * A schema of arguments without some of them, also where a part of it mentions them again. What other arguments must be then is
 * as if these were there and valid; the server still checks the whole. Throws `misuse` if the schema refers to one of them.
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
  // Safe: `type` stays as it is.
  return strip(schema, new Set(names), 0) as Tool["inputSchema"];
}

function strip(schema: Record<string, unknown>, names: ReadonlySet<string>, depth: number): Record<string, unknown> {
  if (depth > MOST_NESTED) throw new McpError("misuse", `the schema is nested deeper than ${MOST_NESTED} levels`);
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

/** Throws `misuse` if a value is not one that the tool accepts for its argument. */
function checkFixedValues(schema: Record<string, unknown>, fixed: Readonly<Record<string, unknown>>): void {
  if (Object.keys(fixed).length === 0) return;
  const { $schema, $defs, definitions, properties } = schema;
  const own = Object.entries(Object(properties)).filter(([name]) => Object.hasOwn(fixed, name));
  const part = { $schema, $defs, definitions, properties: Object.fromEntries(own) };
  const result = compileValidator(part).validate(fixed);
  if (result.valid) return;
  const [first] = result.errors;
  throw new McpError("misuse", `the fixed value at ${first?.path} is not valid: ${first?.message}`, {
    fix: "Fix a value that the tool accepts.",
  });
}
