import type { EntryKind } from "../contract/timeline.js";

/** A JSON-RPC object, of which nothing is known yet. */
export type AnyMessage = Readonly<Record<string, unknown>>;

/** Characters of a name or an address in a summary. */
const MOST_ABOUT = 300;
/** Characters of a method in a summary. */
const MOST_LABEL = 200;

/** What a message is by itself. */
export interface MessageFacts {
  readonly kind: Exclude<EntryKind, "http" | "event">;
  readonly id: string | number | undefined;
  /** Of requests and notifications. */
  readonly method: string | undefined;
  /** The tool, prompt, URI or task that it names. */
  readonly about: string | undefined;
  readonly failed: boolean;
}

export function factsOf(message: AnyMessage): MessageFacts {
  const id = idOf(message["id"]);
  const method = typeof message["method"] === "string" ? message["method"].slice(0, MOST_LABEL) : undefined;
  if (method !== undefined) {
    const kind = message["id"] === undefined ? "notification" : "request";
    return { kind, id, method, about: aboutOf(objectIn(message, "params")), failed: false };
  }
  const result = objectIn(message, "result");
  const kind = Object.hasOwn(message, "result") ? "result" : "error";
  return { kind, id, method, about: undefined, failed: kind === "error" || result?.["isError"] === true };
}

/** A member of a message that is an object. */
export function objectIn(value: AnyMessage | undefined, name: string): AnyMessage | undefined {
  const member = value !== undefined && Object.hasOwn(value, name) ? value[name] : undefined;
  // Safe: an object that is no array is a record of JSON.
  return typeof member === "object" && member !== null && !Array.isArray(member) ? (member as AnyMessage) : undefined;
}

/** An id of JSON-RPC or a token of MCP. */
export function idOf(value: unknown): string | number | undefined {
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}

function aboutOf(params: AnyMessage | undefined): string | undefined {
  if (params === undefined) return undefined;
  const reference = objectIn(params, "ref");
  const named = [params["name"], params["uri"], reference?.["name"], reference?.["uri"], params["taskId"]];
  return named.find((name) => typeof name === "string")?.slice(0, MOST_ABOUT);
}
