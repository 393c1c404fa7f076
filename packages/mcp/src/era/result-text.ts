import { isObject } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";
import type { ContentBlock } from "../protocol/features/content.js";
import type { Revision } from "../protocol/revisions.js";

/**
 * The result of a tool whose JSON text is known already: the structured content was written once for its check and for its
 * text block, and need not be written again for the answer. Only for results that nobody can change any more.
 */
export class WrittenResult {
  readonly content: ContentBlock[];
  readonly structuredContent: unknown;
  readonly #text: string;

  /** `text` is the JSON of `structuredContent`. */
  constructor(structuredContent: unknown, text: string) {
    this.content = [{ type: "text", text }];
    this.structuredContent = structuredContent;
    this.#text = `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text}}`;
  }

  /** The text of a value of this class; undefined for any other. */
  static textOf(value: unknown): string | undefined {
    return typeof value === "object" && value !== null && #text in value ? value.#text : undefined;
  }
}

/** Result objects that are served many times; their text is kept per revision and goes when the object goes. */
const kept = new WeakMap<object, Map<Revision, string>>();

/**
 * Marks a result object as one that is served again and again. It must not change afterwards: its text is made once per
 * revision. Middleware that returns another object is serialised afresh.
 */
export function keepText<T extends object>(result: T): T {
  if (!kept.has(result)) kept.set(result, new Map());
  return result;
}

function textOf(result: unknown, revision: Revision, make: () => string): string {
  const texts = typeof result === "object" && result !== null ? kept.get(result) : undefined;
  if (texts === undefined) return make();
  let text = texts.get(revision);
  if (text === undefined) {
    text = make();
    texts.set(revision, text);
  }
  return text;
}

/** The JSON text of a result without markings. */
export function plainResultText(
  result: unknown,
  method: string,
  revision: Revision,
  shape: (value: Record<string, unknown>) => unknown,
): string {
  return textOf(result, revision, () => {
    // A result is an object by now; whoever returned something else is refused by `serialise`.
    const shaped = isObject(result) ? shape(result) : result;
    return serialise(shaped, method);
  });
}

/**
 * The JSON text of a result with `tail` merged in: `tail` is the inside of an object, for example `"resultType":"complete"`.
 * Appending text is several times cheaper than building a new object, and safe only when no key occurs on both sides.
 */
export function markedResultText(
  result: unknown,
  method: string,
  revision: Revision,
  tail: { text: string; members: Record<string, unknown> },
): string {
  return textOf(result, revision, () => {
    const text = serialise(result, method);
    if (text === "{}") return `{${tail.text}}`;
    if (!collides(result as object, tail.members)) return `${text.slice(0, -1)},${tail.text}}`;
    return JSON.stringify(merge(JSON.parse(text) as Record<string, unknown>, tail.members));
  });
}

function serialise(result: unknown, method: string): string {
  const written = WrittenResult.textOf(result) ?? oneTextBlock(result);
  if (written !== undefined) return written;
  let text: string | undefined;
  try {
    text = result === undefined ? "{}" : JSON.stringify(result);
  } catch (error) {
    throw new McpError(
      "internal_error",
      `the result of ${method} cannot be written as JSON: ${(error as Error).message}`,
      {
        cause: error,
        fix: "Return plain data: no BigInt, no cycles.",
      },
    );
  }
  if (text === undefined || !text.startsWith("{")) {
    throw new McpError("internal_error", `the result of ${method} is not an object`, { fix: "Return an object." });
  }
  return text;
}

/**
 * The text of a result that is one block of text and nothing else, as most results of tools are. Written by hand it costs
 * a third of what `JSON.stringify` takes for the three objects. Undefined for every other result.
 */
function oneTextBlock(result: unknown): string | undefined {
  if (!isObject(result) || !hasExactly(result, CONTENT)) return undefined;
  const { content } = result;
  if (!Array.isArray(content) || content.length !== 1 || "toJSON" in content) return undefined;
  const block: unknown = content[0];
  if (!isObject(block) || !hasExactly(block, TYPE_AND_TEXT)) return undefined;
  const { type, text } = block;
  if (type !== "text" || typeof text !== "string") return undefined;
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}]}`;
}

const CONTENT = ["content"];
const TYPE_AND_TEXT = ["type", "text"];

/** Whether JSON would write these members, in this order, and no other. */
function hasExactly(value: object, names: readonly string[]): boolean {
  const keys = Object.keys(value);
  return keys.length === names.length && keys.every((key, at) => key === names[at]) && !("toJSON" in value);
}

function collides(result: object, members: Record<string, unknown>): boolean {
  if ("toJSON" in result) return true;
  for (const key in members) if (Object.hasOwn(result, key)) return true;
  return false;
}

/** The markings win, except that a result's own `_meta` members and cache hints are kept. */
function merge(result: Record<string, unknown>, members: Record<string, unknown>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...result };
  for (const [key, value] of Object.entries(members)) {
    if (key === "_meta" && isObject(result["_meta"])) merged[key] = { ...(value as object), ...result["_meta"] };
    else if (key === "resultType" || !Object.hasOwn(result, key)) merged[key] = value;
  }
  return merged;
}
