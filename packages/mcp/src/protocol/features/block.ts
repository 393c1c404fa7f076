import type { ContentBlock } from "./content.js";

const BLOCK = Symbol.for("@parley/mcp/content-block");
const RESULT = Symbol.for("@parley/mcp/tool-result");

/** A content block created by a function of `content`. Plain objects count as data, even if they look like a block. */
export type Block<T extends ContentBlock = ContentBlock> = T & { readonly [BLOCK]: true };

// The mark is on the prototype: it needs no memory per block, is not serialised, and does not survive a spread.
class BlockMark {
  get [BLOCK](): true {
    return true;
  }
}

/** Marks the members of a block as created by this library. */
export function markBlock<T extends ContentBlock>(members: T): Block<T> {
  // Safe: the object now has the mark and all members.
  return Object.assign(new BlockMark(), members) as unknown as Block<T>;
}

/** True for a block created by `content`, including a block from another copy of this package. */
export function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[BLOCK] === true;
}

/**
 * A complete tool result, for handlers that return more than a value: content, failure, metadata. Created by
 * `content.result`.
 */
export interface ToolResult<T = unknown> {
  /** Content blocks for the model and the user. */
  readonly content?: readonly ContentBlock[];
  /** The structured content, validated against the output schema of the tool. */
  readonly structured?: T;
  /** True if the tool failed. Default: false. */
  readonly isError?: boolean;
  /** Metadata of the result. */
  readonly _meta?: Record<string, unknown>;
  readonly [RESULT]: true;
}

class ResultMark {
  get [RESULT](): true {
    return true;
  }
}

/** Marks the members of a result as created by `content.result`. */
export function markResult<T>(members: object): ToolResult<T> {
  // Safe for the same reason as in `markBlock`.
  return Object.assign(new ResultMark(), members) as unknown as ToolResult<T>;
}

/** True for a result created by `content.result`, including a result from another copy of this package. */
export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[RESULT] === true;
}
