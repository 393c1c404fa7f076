import { toBase64 } from "../../encoding/base64.js";
import type {
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceLink,
  TextContent,
} from "../../protocol/features/content.js";

const BLOCK = Symbol.for("@parley/mcp/content-block");
const RESULT = Symbol.for("@parley/mcp/tool-result");

/** A content block that a builder made; plain objects are data, whatever their members are called. */
export type Block<T extends ContentBlock = ContentBlock> = T & { readonly [BLOCK]: true };

// The mark sits on the prototype: it costs nothing per block, is not serialised, and does not survive a spread.
class BlockMark {
  get [BLOCK](): true {
    return true;
  }
}

function block<T extends ContentBlock>(members: T): Block<T> {
  // The mark and the members together are what the type says.
  return Object.assign(new BlockMark(), members) as unknown as Block<T>;
}

/** True for what the builders below return, also those of another copy of this package. */
export function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[BLOCK] === true;
}

type Extras<T> = Omit<T, "type" | "text" | "data" | "mimeType" | "uri" | "name" | "resource">;

/** Text. */
export function text(value: string, extras?: Extras<TextContent>): Block<TextContent> {
  return block({ type: "text", text: value, ...extras });
}

/** A picture, from bytes or from Base64. */
export function image(data: Uint8Array | string, mimeType: string, extras?: Extras<ImageContent>): Block<ImageContent> {
  return block({ type: "image", data: base64(data), mimeType, ...extras });
}

/** A sound, from bytes or from Base64. */
export function audio(data: Uint8Array | string, mimeType: string, extras?: Extras<AudioContent>): Block<AudioContent> {
  return block({ type: "audio", data: base64(data), mimeType, ...extras });
}

/** A resource with its contents. */
export function resource(
  uri: string,
  contents: string | Uint8Array,
  options: { mimeType?: string } & Extras<EmbeddedResource> = {},
): Block<EmbeddedResource> {
  const { mimeType, ...extras } = options;
  const type = mimeType === undefined ? {} : { mimeType };
  const body = typeof contents === "string" ? { text: contents } : { blob: toBase64(contents) };
  return block({ type: "resource", resource: { uri, ...type, ...body }, ...extras });
}

/** A resource by its address alone. */
export function link(
  uri: string,
  options: Omit<ResourceLink, "type" | "uri" | "name"> & { name?: string } = {},
): Block<ResourceLink> {
  return block({ type: "resource_link", uri, ...options, name: options.name ?? uri });
}

function base64(data: Uint8Array | string): string {
  return typeof data === "string" ? data : toBase64(data);
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

/** Builds a full result. Without `content`, the text of `structured` is sent. */
export function result<T = undefined>(members: {
  content?: readonly ContentBlock[];
  structured?: T;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}): ToolResult<T> {
  return Object.assign(new ResultMark(), members) as unknown as ToolResult<T>;
}

/** True for what `result` returns, also that of another copy of this package. */
export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[RESULT] === true;
}
