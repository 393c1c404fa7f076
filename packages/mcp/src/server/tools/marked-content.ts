import type { ContentBlock } from "../../protocol/features/content.js";

const BLOCK = Symbol.for("@parley/mcp/content-block");
const RESULT = Symbol.for("@parley/mcp/tool-result");

/** A content block that a builder of `content` made; plain objects are data, whatever their members are called. */
export type Block<T extends ContentBlock = ContentBlock> = T & { readonly [BLOCK]: true };

// The mark sits on the prototype: it costs nothing per block, is not serialised, and does not survive a spread.
class BlockMark {
  get [BLOCK](): true {
    return true;
  }
}

/** Marks the members of a block as made by a builder. */
export function markBlock<T extends ContentBlock>(members: T): Block<T> {
  // The mark and the members together are what the type says.
  return Object.assign(new BlockMark(), members) as unknown as Block<T>;
}

/** True for what the builders return, also those of another copy of this package. */
export function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[BLOCK] === true;
}

/** A full result of a tool, for handlers that need more than a value: content, failure, metadata. */
export interface ToolResult<T = unknown> {
  readonly content?: readonly ContentBlock[];
  readonly structured?: T;
  readonly isError?: boolean;
  readonly _meta?: Record<string, unknown>;
  readonly [RESULT]: true;
}

class ResultMark {
  get [RESULT](): true {
    return true;
  }
}

/** Marks the members of a result as made by a builder. */
export function markResult<T>(members: object): ToolResult<T> {
  return Object.assign(new ResultMark(), members) as unknown as ToolResult<T>;
}

/** True for what `content.result` returns, also that of another copy of this package. */
export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[RESULT] === true;
}
