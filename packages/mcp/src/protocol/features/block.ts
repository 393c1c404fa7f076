import type { ContentBlock } from "./content.js";

const BLOCK = Symbol.for("@parley/mcp/content-block");
const RESULT = Symbol.for("@parley/mcp/tool-result");

/** A content block made by a builder of `content`. Plain objects are data, even if they look like a block. */
export type Block<T extends ContentBlock = ContentBlock> = T & { readonly [BLOCK]: true };

// The mark is on the prototype, so it costs nothing per block, is not serialised, and does not survive a spread.
class BlockMark {
  get [BLOCK](): true {
    return true;
  }
}

/** Marks the members of a block as made by a builder. */
export function markBlock<T extends ContentBlock>(members: T): Block<T> {
  // Sound, because the object now has the mark and all members.
  return Object.assign(new BlockMark(), members) as unknown as Block<T>;
}

/** True for a block made by a builder, also by that of another copy of this package. */
export function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[BLOCK] === true;
}

/** A complete tool result, for handlers that return more than a value: content, failure, metadata. Made by `content.result`. */
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
  // Sound for the same reason as in `markBlock`.
  return Object.assign(new ResultMark(), members) as unknown as ToolResult<T>;
}

/** True for a result made by `content.result`, also by that of another copy of this package. */
export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[RESULT] === true;
}
