import { toBase64 } from "../../encoding/base64.js";
import { type Some, withoutUndefined } from "../../encoding/with-defaults.js";
import { type Block, markBlock, markResult, type ToolResult } from "../../protocol/features/block.js";
import type {
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceLink,
  TextContent,
} from "../../protocol/features/content.js";

type Extras<T> = Some<Omit<T, "type" | "text" | "data" | "mimeType" | "uri" | "name" | "resource">>;

/** Creates a text block. */
export function text(value: string, extras?: Extras<TextContent>): Block<TextContent> {
  return markBlock({ type: "text", text: value, ...definedExtras(extras) });
}

/** Creates an image block from bytes or a Base64 string. */
export function image(data: Uint8Array | string, mimeType: string, extras?: Extras<ImageContent>): Block<ImageContent> {
  return markBlock({ type: "image", data: base64(data), mimeType, ...definedExtras(extras) });
}

/** Creates an audio block from bytes or a Base64 string. */
export function audio(data: Uint8Array | string, mimeType: string, extras?: Extras<AudioContent>): Block<AudioContent> {
  return markBlock({ type: "audio", data: base64(data), mimeType, ...definedExtras(extras) });
}

/** Creates an embedded resource from its URI and its contents. */
export function resource(
  uri: string,
  contents: string | Uint8Array,
  options: { mimeType?: string | undefined } & Extras<EmbeddedResource> = {},
): Block<EmbeddedResource> {
  const { mimeType, ...extras } = options;
  const type = mimeType === undefined ? {} : { mimeType };
  const body = typeof contents === "string" ? { text: contents } : { blob: toBase64(contents) };
  return markBlock({ type: "resource", resource: { uri, ...type, ...body }, ...definedExtras(extras) });
}

/** Creates a link to a resource, which the client may read. Default `name`: the URI. */
export function link(uri: string, options: Some<Omit<ResourceLink, "type" | "uri">> = {}): Block<ResourceLink> {
  return markBlock({ type: "resource_link", uri, ...definedExtras(options), name: options.name ?? uri });
}

/** Returns undefined without extras, so that nothing is copied for most blocks. */
function definedExtras<T extends object>(extras: T | undefined) {
  return extras === undefined ? undefined : withoutUndefined(extras);
}

function base64(data: Uint8Array | string): string {
  return typeof data === "string" ? data : toBase64(data);
}

/** Creates a complete tool result. Without `content`, clients also get `structured` as text. */
export function result<T = undefined>(members: {
  content?: readonly ContentBlock[] | undefined;
  structured?: T | undefined;
  isError?: boolean | undefined;
  _meta?: Record<string, unknown> | undefined;
}): ToolResult<T> {
  return markResult(members);
}
