import type { BoundedFetch } from "../url/bounded-fetch.js";
import { type Steps, saidBy } from "./steps.js";

/**
 * Reads a metadata document, or undefined if there is none here; why not is noted as a step. Any status but 200 leads to the next
 * place: providers answer 400, 403, 404, 405 and 5xx for documents that they do not have.
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
    // An object that is neither null nor an array; each member is checked where it is used.
    return document as Record<string, unknown>;
  } catch (error) {
    steps.note(what, saidBy(error), url);
    return undefined;
  }
}

/** A member that must be a text; providers send null for what they do not have. */
export function textMember(document: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = document[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A member that must be a list of texts; undefined if it is not there or null. Other items are left out. */
export function listMember(document: Readonly<Record<string, unknown>>, name: string): string[] | undefined {
  const value = document[name];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : undefined;
}

/** The JSON object that a text holds, with members yet to be checked; undefined if it holds none. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // An object that is neither null nor an array; each member is checked where it is used.
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
