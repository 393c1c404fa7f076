import { isObject } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";
import type { ContentBlock } from "../protocol/features/content.js";
import type { Revision } from "../protocol/revisions.js";

/**
 * The result of a tool with its JSON text. The structured content was already serialised for its validation and its
 * text block, so the answer reuses that text. Only for results that no longer change.
 */
export class PreserializedResult {
  readonly content: ContentBlock[];
  readonly structuredContent: unknown;
  readonly #text: string;

  /** `text` is the JSON of `structuredContent`. */
  constructor(structuredContent: unknown, text: string) {
    this.content = [{ type: "text", text }];
    this.structuredContent = structuredContent;
    this.#text = `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text}}`;
  }

  /** The JSON text of an instance of this class. Undefined for any other value. */
  static textOf(value: unknown): string | undefined {
    return typeof value === "object" && value !== null && #text in value ? value.#text : undefined;
  }
}

/** Texts of frequently served result objects, by revision. */
const cachedTexts = new WeakMap<object, Map<Revision, string>>();

/**
 * Caches the text of a frequently served result object. The object must not change afterwards, because its text is
 * created once per revision. If middleware returns a different object, that object is serialised as usual.
 */
export function cacheText<T extends object>(result: T): T {
  if (!cachedTexts.has(result)) cachedTexts.set(result, new Map());
  return result;
}

function textOf(result: unknown, revision: Revision, make: () => string): string {
  const texts = typeof result === "object" && result !== null ? cachedTexts.get(result) : undefined;
  if (texts === undefined) return make();
  let text = texts.get(revision);
  if (text === undefined) {
    text = make();
    texts.set(revision, text);
  }
  return text;
}

/** The JSON text of a result to which the era adds no members. `shape` converts the result to an older revision. */
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
 * The JSON text of a result with `tail` merged in. `tail.text` is the inside of an object, for example
 * `"resultType":"complete"`. `shape` converts the result to an older revision. Appending text avoids a new object, but
 * is safe only if no key occurs in both the result and `tail`.
 */
export function resultTextWithTail(
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
    // The members that `toJSON` returns are known only from the text, so the text is parsed before they are merged.
    if ("toJSON" in (result as object)) {
      return JSON.stringify(merge(JSON.parse(text) as Record<string, unknown>, tail.members));
    }
    return `${text.slice(0, -1)},${tail.text}}`;
  });
}

function serialise(result: unknown, method: string): string {
  const written = PreserializedResult.textOf(result) ?? oneTextBlock(result);
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
 * The text of a result that is exactly one text block, as most results of tools are. Calls `JSON.stringify` only for
 * the text, not for the three objects around it. Undefined for every other result.
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

/** True if the JSON of the object has exactly these members, in this order. */
function hasExactly(value: object, names: readonly string[]): boolean {
  const keys = Object.keys(value);
  return keys.length === names.length && keys.every((key, at) => key === names[at]) && !("toJSON" in value);
}

function collides(result: object, members: Record<string, unknown>): boolean {
  for (const key in members) if (Object.hasOwn(result, key)) return true;
  return false;
}

/**
 * Adds `members` to a result. The result's own cache hints and members of `_meta` take precedence, but its `resultType`
 * is replaced.
 */
function merge(result: Record<string, unknown>, members: Record<string, unknown>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...result };
  for (const [key, value] of Object.entries(members)) {
    if (key === "_meta" && isObject(result["_meta"])) merged[key] = { ...(value as object), ...result["_meta"] };
    else if (key === "resultType" || merged[key] === undefined) merged[key] = value;
  }
  return merged;
}
