import { isObject } from "../jsonrpc/message.js";
import type { Tool } from "../protocol/features/tools.js";
import { subschemasOf } from "../schema/json-schema/schema-resources.js";

/**
 * The severity of a finding. `error`: the tool fails or deceives. `warning`: the tool works, but not as well as it
 * could. `note`: the finding is only for information.
 */
export type Severity = "error" | "warning" | "note";

/** The description of a rule. */
export interface RuleInfo {
  /** The id of the rule, such as `name-length`, for `only` and `ignore` of `LintOptions`. */
  readonly id: string;
  /** The severity of the rule's findings. */
  readonly severity: Severity;
  /** The problem that the rule finds, in one sentence. */
  readonly summary: string;
}

/** A problem that a rule found in one tool, or in all tools together. */
export interface Finding {
  /** The id of the rule. */
  readonly rule: string;
  /** The severity of the rule. */
  readonly severity: Severity;
  /** The name of the tool; undefined for findings about all tools together. */
  readonly tool: string | undefined;
  /** The path within the tool, such as `inputSchema.properties.city`; undefined for the tool as a whole. */
  readonly path: string | undefined;
  /** The problem. Quotes from the tool are escaped, so that they are safe to print in a terminal. */
  readonly message: string;
  /** The change that solves the problem. */
  readonly fix: string;
}

/** A problem as a rule reports it. */
export interface Problem {
  readonly tool?: string;
  readonly path?: string;
  readonly message: string;
  readonly fix: string;
}

/** The input of rules. */
export interface LintInput {
  readonly tools: readonly Tool[];
  /** The names of all tools, in lower case. */
  readonly names: ReadonlySet<string>;
  countTokens(text: string): number;
  /** Maximum number of tokens for the definition of one tool. */
  readonly maxTokens: number;
}

/** A rule that checks one tool at a time, or all tools together. */
export interface LintRule extends RuleInfo {
  readonly each?: (tool: Tool, all: LintInput) => Iterable<Problem>;
  readonly all?: (all: LintInput) => Iterable<Problem>;
}

/** A subschema, with its path. */
interface PlacedSchema {
  readonly path: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** A text that a model may read, with its path. */
export interface PlacedText {
  readonly path: string;
  readonly text: string;
}

const MAX_SCHEMAS = 5_000;
const MAX_DEPTH = 64;
const MAX_TEXT_LENGTH = 100_000;

/** Lists the input and output schemas of a tool with all their subschemas, up to `MAX_SCHEMAS` and `MAX_DEPTH`. */
export function schemasOf({ inputSchema, outputSchema }: Tool): PlacedSchema[] {
  const found: PlacedSchema[] = [];
  collect(found, inputSchema, "inputSchema", 0);
  collect(found, outputSchema, "outputSchema", 0);
  return found;
}

function collect(found: PlacedSchema[], schema: unknown, path: string, depth: number): void {
  if (!isObject(schema) || depth > MAX_DEPTH || found.length >= MAX_SCHEMAS) return;
  found.push({ path, schema });
  for (const [keyword, value] of Object.entries(schema)) {
    const held = subschemasOf(keyword);
    const here = `${path}.${keyword}`;
    if (held === "schemas" && Array.isArray(value)) {
      for (const [at, one] of value.entries()) collect(found, one, `${here}[${at}]`, depth + 1);
    } else if (held === "schemas") collect(found, value, here, depth + 1);
    else if (held === "map" && isObject(value)) {
      for (const [name, one] of Object.entries(value)) collect(found, one, `${here}.${shownKey(name)}`, depth + 1);
    }
  }
}

/** A key as it appears in a path. */
export function shownKey(name: string): string {
  return /^[\w$-]+$/.test(name) ? name : JSON.stringify(name);
}

/**
 * Lists every text of a tool that may reach a model: names, titles, descriptions, and texts in schemas such as property
 * names, defaults and examples.
 */
export function textsOf(tool: Tool): PlacedText[] {
  const { name, title, description, annotations } = tool;
  const texts: PlacedText[] = [];
  const add = (path: string, value: unknown) => {
    if (typeof value === "string" && value !== "") texts.push({ path, text: value.slice(0, MAX_TEXT_LENGTH) });
  };
  add("name", name);
  add("title", title);
  add("description", description);
  add("annotations.title", annotations?.title);
  for (const { path, schema } of schemasOf(tool)) {
    for (const keyword of ["title", "description", "$comment", "default", "const", "pattern"]) {
      add(`${path}.${keyword}`, schema[keyword]);
    }
    for (const keyword of ["enum", "examples"]) {
      const values = schema[keyword];
      if (Array.isArray(values)) values.forEach((one, at) => void add(`${path}.${keyword}[${at}]`, one));
    }
    if (isObject(schema["properties"])) {
      for (const key of Object.keys(schema["properties"])) add(`${path}.properties.${shownKey(key)}`, key);
    }
  }
  return texts;
}
