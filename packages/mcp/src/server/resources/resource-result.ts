import { toBase64 } from "../../encoding/base64.js";
import { McpError, resourceNotFound } from "../../protocol/error.js";
import { isBlock } from "../../protocol/features/block.js";
import type { ResourceContents } from "../../protocol/features/content.js";
import type { ReadResourceResult } from "../../protocol/features/resources.js";

/** Converts the return value of a read handler to the result that clients get. */
export function toResourceResult(uri: string, value: unknown, mimeType: string | undefined): ReadResourceResult {
  // An empty `contents` would mean that the resource exists, so a missing resource is an error.
  // Spec: Resources, "Error Handling",
  // https://modelcontextprotocol.io/specification/2026-07-28/server/resources#error-handling
  if (value === undefined || value === null) throw resourceNotFound(uri);
  if (!Array.isArray(value)) return { contents: [toContents(uri, value, mimeType)] };
  return { contents: value.map((part) => toContents(uri, part, mimeType)) };
}

function toContents(uri: string, value: unknown, mimeType: string | undefined): ResourceContents {
  const type = mimeType === undefined ? {} : { mimeType };
  if (typeof value === "string") return { uri, ...type, text: value };
  if (value instanceof Uint8Array) return { uri, ...type, blob: toBase64(value) };
  if (isBlock(value)) {
    if (value.type === "resource") return value.resource;
    throw unusable(uri, `a block of type ${value.type}`);
  }
  if (typeof value !== "object" || value === null) throw unusable(uri, `a ${typeof value}`);
  // The cast claims nothing: every member is unknown until it is checked.
  const { text, blob, ...others } = value as { text?: unknown; blob?: unknown } & Record<string, unknown>;
  if (typeof text === "string") return { uri, ...type, ...others, text };
  if (blob instanceof Uint8Array) return { uri, ...type, ...others, blob: toBase64(blob) };
  if (typeof blob === "string") return { uri, ...type, ...others, blob };
  throw unusable(uri, "an object without `text` and `blob`");
}

function unusable(uri: string, what: string): McpError {
  return new McpError("misuse", `the handler of ${uri} returned ${what}`, {
    fix: "Return a string, bytes, `{ text }`, `{ blob }`, a block created by `content.resource`, or an array of these.",
  });
}
