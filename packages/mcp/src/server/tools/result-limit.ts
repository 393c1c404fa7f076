import { cutToJsonBytes, utf8Bytes } from "../../encoding/json-bytes.js";
import { WrittenResult } from "../../era/result-text.js";
import { McpError } from "../../protocol/error.js";
import type { ContentBlock } from "../../protocol/features/content.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import type { ServerCall } from "../call/server-call.js";
import type { ToolPolicy } from "../contract/tool.js";
import type { OverflowStore } from "./overflow-store.js";

/** How large a result may be, and what happens to a larger one. */
export interface ResultLimit {
  readonly bytes: number;
  readonly overflow: "truncate" | "link";
}

/** A smaller limit would not leave room for the note that says what happened. */
const LEAST_BYTES = 1024;
/** Room for the note, the link and the JSON around the content. */
const FRAME_BYTES = 768;

/** The limit in a tool's policy; undefined without one. */
export function resultLimit(
  name: string,
  { maxResultBytes, overflow = "truncate" }: ToolPolicy,
): ResultLimit | undefined {
  if (maxResultBytes === undefined) return undefined;
  if (maxResultBytes >= LEAST_BYTES) return { bytes: maxResultBytes, overflow };
  throw new McpError("invalid_definition", `\`maxResultBytes\` of tool "${name}" is ${maxResultBytes}`, {
    fix: `Pass at least ${LEAST_BYTES}, or leave it out.`,
  });
}

/**
 * A result within the limit: the same one, or its beginning with a note and, by policy, a link to the whole.
 *
 * A tool with an output schema must not succeed without its structured content, and a part of it would not fit the schema.
 * Such a result becomes an error for the model, which can ask for less or read the link.
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
  const text = WrittenResult.textOf(result) ?? JSON.stringify(result);
  // A code unit takes at most three bytes in UTF-8, so most results need no exact count.
  if (text.length * 3 <= limit.bytes) return result;
  const size = utf8Bytes(text);
  if (size <= limit.bytes) return result;
  const uri = limit.overflow === "link" ? keep(result, call, store) : undefined;
  const where = uri === undefined ? "Ask for less." : `All of it can be read at ${uri} for a while, or ask for less.`;
  const note: ContentBlock = {
    type: "text",
    text: `[The result of "${tool.name.slice(0, 128)}" has ${size} bytes, the limit is ${limit.bytes}. ${where}]`,
  };
  const link: ContentBlock[] =
    uri === undefined ? [] : [{ type: "resource_link", uri, name: "whole result", mimeType: bodyOf(result).mimeType }];
  const failed = result.isError === true || tool.output !== undefined;
  return {
    content: [...beginning(result.content, limit.bytes - FRAME_BYTES), note, ...link],
    ...(failed ? { isError: true } : {}),
  };
}

function beginning(content: readonly ContentBlock[], budget: number): ContentBlock[] {
  const kept: ContentBlock[] = [];
  let left = budget;
  for (const block of content) {
    const cost = utf8Bytes(JSON.stringify(block)) + 1;
    if (cost <= left) {
      kept.push(block);
      left -= cost;
    } else {
      // Blocks after the cut are dropped, so that it is clear where the result ends.
      if (block.type === "text") kept.push({ type: "text", text: cutToJsonBytes(block.text, left - 32) });
      break;
    }
  }
  return kept;
}

function keep(result: CallToolResult, call: ServerCall, store: OverflowStore): string | undefined {
  const { text, mimeType } = bodyOf(result);
  return store.keep(text, mimeType, call.ctx.auth?.key);
}

/** The whole result as one text: its structured content, its only text block, or all blocks as JSON. */
function bodyOf(result: CallToolResult): { text: string; mimeType: string } {
  if (result.structuredContent !== undefined) {
    return { text: JSON.stringify(result.structuredContent), mimeType: "application/json" };
  }
  const [first, ...others] = result.content;
  if (first?.type === "text" && others.length === 0) return { text: first.text, mimeType: "text/plain" };
  return { text: JSON.stringify(result.content), mimeType: "application/json" };
}
