import type { BoundedFetch } from "../url/bounded-fetch.js";
import { errorMessage, type Steps } from "./steps.js";

/**
 * Reads a metadata document. If there is none, notes the reason as a step and returns undefined. Any status but 200
 * counts as missing: providers answer 400, 403, 404, 405 and 5xx for documents that they do not have.
 */
export async function readMetadata(
  fetch: BoundedFetch,
  url: string,
  what: string,
  steps: Steps,
): Promise<Record<string, unknown> | undefined> {
  try {
    const response = await fetch(url, { headers: { accept: "application/json" } });
    if (response.status !== 200) {
      steps.note(what, `HTTP ${response.status}`, url);
      return undefined;
    }
    if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(response.headers.get("content-type") ?? "")) {
      steps.note(what, "not JSON", url);
      return undefined;
    }
    const document: unknown = JSON.parse(await response.text());
    if (typeof document !== "object" || document === null || Array.isArray(document)) {
      steps.note(what, "not a JSON object", url);
      return undefined;
    }
    steps.note(what, "found", url);
    // Safe: an object that is neither null nor an array. Each member is checked where it is used.
    return document as Record<string, unknown>;
  } catch (error) {
    steps.note(what, errorMessage(error), url);
    return undefined;
  }
}

/**
 * Returns a non-empty string member. Undefined for anything else, such as null, which providers send for missing
 * values.
 */
export function textMember(document: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = document[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the strings of a list member. Undefined if the member is not a list. */
export function listMember(document: Readonly<Record<string, unknown>>, name: string): string[] | undefined {
  const value = document[name];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : undefined;
}

/** Parses a JSON object, whose members are still unchecked. Undefined if the text is not a JSON object. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // Safe: an object that is neither null nor an array. Each member is checked where it is used.
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
