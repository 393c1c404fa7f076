import { isObject } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";
import type { ContentBlock } from "../protocol/features/content.js";
import type { Revision } from "../protocol/revisions.js";

/**
 * The result of a tool whose JSON text is already known: the structured content was serialised for its check and its text
 * block, so the answer reuses that text. Only for results that can no longer change.
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

/** Result objects that are served many times, with their text per revision. */
const kept = new WeakMap<object, Map<Revision, string>>();

/**
 * Caches the text of a result object that is served many times. It must not change afterwards, because its text is
 * made once per revision. A different object from middleware is serialised as usual.
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

/** The JSON text of a result without further members. */
export function plainResultText(
  result: unknown,
  method: string,
  revision: Revision,
  shape: (value: Record<string, unknown>, method: string, revision: Revision) => unknown,
): string {
  return textOf(result, revision, () => {
    // `serialise` rejects a result that is not an object.
    const shaped = isObject(result) ? shape(result, method, revision) : result;
    return serialise(shaped, method);
  });
}

/**
 * The JSON text of a result with `tail` merged in: `tail` is the inside of an object, for example `"resultType":"complete"`.
 * `shape` gives the result the form of an older revision. Appending text avoids building a new object; it is safe only if no key occurs on both sides.
 */
export function markedResultText(
  given: unknown,
  method: string,
  revision: Revision,
  tail: { text: string; members: Record<string, unknown> },
  shape?: (method: string, value: Record<string, unknown>) => Record<string, unknown>,
): string {
  return textOf(given, revision, () => {
    const result = shape !== undefined && isObject(given) ? shape(method, given) : given;
    if (isObject(result) && !("toJSON" in result) && collides(result, tail.members)) {
      return serialise(merge(result, tail.members), method);
    }
    const text = serialise(result, method);
    if (text === "{}") return `{${tail.text}}`;
    // What `toJSON` returns is known from the text alone.
    if ("toJSON" in (result as object)) {
      return JSON.stringify(merge(JSON.parse(text) as Record<string, unknown>, tail.members));
    }
    return `${text.slice(0, -1)},${tail.text}}`;
  });
}

function serialise(result: unknown, method: string): string {
  const written = WrittenResult.textOf(result) ?? oneTextBlock(result);
  if (written !== undefined) return written;
  let text: string | undefined;
  try {
    text = result === undefined ? "{}" : JSON.stringify(result);
  } catch (error) {
    throw new McpError("misuse", `the result of ${method} cannot be converted to JSON: ${(error as Error).message}`, {
      cause: error,
      fix: "Return plain data: no BigInt, no cycles.",
    });
  }
  if (text === undefined || !text.startsWith("{")) {
    throw new McpError("misuse", `the result of ${method} is not an object`, { fix: "Return an object." });
  }
  return text;
}

/**
 * The text of a result that is exactly one text block, as most results of tools are, assembled without calling
 * `JSON.stringify` on the three objects. Undefined for every other result.
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

/** Whether the JSON of the object has exactly these members, in this order. */
function hasExactly(value: object, names: readonly string[]): boolean {
  const keys = Object.keys(value);
  return keys.length === names.length && keys.every((key, at) => key === names[at]) && !("toJSON" in value);
}

function collides(result: object, members: Record<string, unknown>): boolean {
  for (const key in members) if (Object.hasOwn(result, key)) return true;
  return false;
}

/** The added members win, except that the result's own `_meta` members and cache hints are kept. */
function merge(result: Record<string, unknown>, members: Record<string, unknown>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...result };
  for (const [key, value] of Object.entries(members)) {
    if (key === "_meta" && isObject(result["_meta"])) merged[key] = { ...(value as object), ...result["_meta"] };
    else if (key === "resultType" || merged[key] === undefined) merged[key] = value;
  }
  return merged;
}
