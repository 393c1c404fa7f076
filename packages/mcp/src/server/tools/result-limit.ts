import { cutToJsonBytes, utf8Bytes } from "../../encoding/json-bytes.js";
import { PreserializedResult } from "../../era/result-text.js";
import { McpError } from "../../protocol/error.js";
import type { ContentBlock } from "../../protocol/features/content.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import type { ServerCall } from "../call/server-call.js";
import type { ToolPolicy } from "../contract/tool.js";
import type { OverflowStore } from "./overflow-store.js";

/** The maximum size of a result, and the treatment of larger ones. */
export interface ResultLimit {
  readonly bytes: number;
  readonly overflow: "truncate" | "link";
}

/** Smallest allowed limit. A smaller limit would not leave room for the note about the truncation. */
const MIN_BYTES = 1024;
/** Number of bytes reserved for the note, the link and the JSON around the content. */
const FRAME_BYTES = 768;

/** Returns the limit in a tool's policy. Undefined without one. */
export function resultLimit(
  name: string,
  { maxResultBytes, overflow = "truncate" }: ToolPolicy,
): ResultLimit | undefined {
  if (maxResultBytes === undefined) return undefined;
  if (maxResultBytes >= MIN_BYTES) return { bytes: maxResultBytes, overflow };
  throw new McpError("invalid_definition", `\`maxResultBytes\` of tool "${name}" is ${maxResultBytes}`, {
    fix: `Pass at least ${MIN_BYTES}, or leave it out.`,
  });
}

/**
 * Returns a result within the limit: the same result, or its beginning with a note and, depending on the policy, a link
 * to the whole result.
 *
 * A tool with an output schema must not succeed without its structured content, and truncated content would not match
 * the schema. Such a result becomes an error for the model, which can ask for less or read the link.
 *
 * Spec: Tools, "Output Schema", https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
 */
export function limitResult(
  tool: { readonly name: string; readonly output: object | undefined },
  limit: ResultLimit,
  result: CallToolResult,
  call: ServerCall,
  store: OverflowStore,
): CallToolResult {
  const text = PreserializedResult.textOf(result) ?? JSON.stringify(result);
  // A code unit has at most three bytes in UTF-8, so most results need no exact count.
  if (text.length * 3 <= limit.bytes) return result;
  const size = utf8Bytes(text);
  if (size <= limit.bytes) return result;
  const uri = limit.overflow === "link" ? storeResult(result, call, store) : undefined;
  const where = uri === undefined ? "Ask for less." : `Read all of it at ${uri} within ten minutes, or ask for less.`;
  const note: ContentBlock = {
    type: "text",
    text: `[The result of "${tool.name.slice(0, 128)}" has ${size} bytes, the limit is ${limit.bytes}. ${where}]`,
  };
  const link: ContentBlock[] =
    uri === undefined ? [] : [{ type: "resource_link", uri, name: "whole result", mimeType: bodyOf(result).mimeType }];
  const failed = result.isError === true || tool.output !== undefined;
  return {
    content: [...truncateContent(result.content, limit.bytes - FRAME_BYTES), note, ...link],
    ...(failed ? { isError: true } : {}),
  };
}

function truncateContent(content: readonly ContentBlock[], budget: number): ContentBlock[] {
  const kept: ContentBlock[] = [];
  let left = budget;
  for (const block of content) {
    const cost = utf8Bytes(JSON.stringify(block)) + 1;
    if (cost <= left) {
      kept.push(block);
      left -= cost;
    } else {
      // Drops the blocks after the cut, so that the end of the result is clear.
      if (block.type === "text") kept.push({ type: "text", text: cutToJsonBytes(block.text, left - 32) });
      break;
    }
  }
  return kept;
}

function storeResult(result: CallToolResult, call: ServerCall, store: OverflowStore): string | undefined {
  const { text, mimeType } = bodyOf(result);
  return store.store(text, mimeType, call.ctx.auth?.key);
}

/** Returns the whole result as one text: its structured content, its only text block, or all blocks as JSON. */
function bodyOf(result: CallToolResult): { text: string; mimeType: string } {
  if (result.structuredContent !== undefined) {
    return { text: JSON.stringify(result.structuredContent), mimeType: "application/json" };
  }
  const [first, ...others] = result.content;
  if (first?.type === "text" && others.length === 0) return { text: first.text, mimeType: "text/plain" };
  return { text: JSON.stringify(result.content), mimeType: "application/json" };
}
