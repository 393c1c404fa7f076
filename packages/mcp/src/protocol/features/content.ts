import { isObject } from "../../jsonrpc/message.js";
import type { Icon } from "../implementation.js";
import type { MetaObject } from "../json.js";

/** The author of a message. */
export type Role = "user" | "assistant";

/** Hints to the client about how to use an object. */
export interface Annotations {
  /** The intended audience. */
  audience?: Role[];
  /** From 0 (optional) to 1 (required). */
  priority?: number;
  /** When it last changed, as an ISO 8601 time. From 2025-06-18 on. */
  lastModified?: string;
}

/** Text. */
export interface TextContent {
  type: "text";
  text: string;
  annotations?: Annotations;
  _meta?: MetaObject;
}

/** An image. */
export interface ImageContent {
  type: "image";
  /** Base64. */
  data: string;
  mimeType: string;
  annotations?: Annotations;
  _meta?: MetaObject;
}

/** Audio. From 2025-03-26 on. */
export interface AudioContent {
  type: "audio";
  /** Base64. */
  data: string;
  mimeType: string;
  annotations?: Annotations;
  _meta?: MetaObject;
}

/** The text of a resource. */
export interface TextResourceContents {
  uri: string;
  mimeType?: string;
  text: string;
  _meta?: MetaObject;
}

/** The bytes of a resource. */
export interface BlobResourceContents {
  uri: string;
  mimeType?: string;
  /** Base64. */
  blob: string;
  _meta?: MetaObject;
}

/** The contents of a resource. */
export type ResourceContents = TextResourceContents | BlobResourceContents;

/** A resource inside a message. */
export interface EmbeddedResource {
  type: "resource";
  resource: ResourceContents;
  annotations?: Annotations;
  _meta?: MetaObject;
}

/** A link to a resource that the server can read; it need not be in `resources/list`. From 2025-06-18 on. */
export interface ResourceLink {
  type: "resource_link";
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Size in bytes, before encoding. */
  size?: number;
  annotations?: Annotations;
  icons?: Icon[];
  _meta?: MetaObject;
}

/** One content block of a tool result or a prompt message. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** The `type` members of all content blocks. */
export type ContentType = ContentBlock["type"];

/** The content types that this library knows. */
export const CONTENT_TYPES: readonly string[] = [
  "text",
  "image",
  "audio",
  "resource",
  "resource_link",
] satisfies readonly ContentType[];

/** Whether a value has the members that text or blob resource contents require. */
export function isResourceContents(value: unknown): value is ResourceContents {
  return (
    isObject(value) &&
    typeof value.uri === "string" &&
    (typeof value.text === "string" || typeof value.blob === "string")
  );
}

/**
 * Whether a value has the members that its content type requires. Optional and unknown members are not checked: a block
 * with an invalid annotation is still usable.
 */
export function isContentBlock(value: unknown): value is ContentBlock {
  if (!isObject(value)) return false;
  switch (value.type) {
    case "text":
      return typeof value.text === "string";
    case "image":
    case "audio":
      return typeof value.data === "string" && typeof value.mimeType === "string";
    case "resource":
      return isResourceContents(value.resource);
    case "resource_link":
      return typeof value.uri === "string" && typeof value.name === "string";
    default:
      return false;
  }
}

/** The content of a block, whatever its type: text, bytes in Base64, or a link. `uri` is the address of an embedded resource. */
export type BlockContent =
  | { readonly kind: "text"; readonly text: string; readonly uri: string | undefined }
  | {
      readonly kind: "image" | "audio" | "file";
      readonly data: string;
      readonly mimeType: string | undefined;
      readonly uri: string | undefined;
    }
  | { readonly kind: "link"; readonly link: ResourceLink }
  | { readonly kind: "unknown" };

const UNKNOWN: BlockContent = { kind: "unknown" };

/** Reads a content block. Code that shows or converts content needs no other look at types; unknown and malformed ones are `unknown`. */
export function blockContent(block: unknown): BlockContent {
  if (!isObject(block)) return UNKNOWN;
  const { type, text, data, mimeType, resource } = block;
  const mime = typeof mimeType === "string" ? mimeType : undefined;
  if (type === "text" && typeof text === "string") return { kind: "text", text, uri: undefined };
  if ((type === "image" || type === "audio") && typeof data === "string")
    return { kind: type, data, mimeType: mime, uri: undefined };
  if (type === "resource" && isResourceContents(resource)) {
    const { uri } = resource;
    if ("text" in resource && typeof resource.text === "string") return { kind: "text", text: resource.text, uri };
    if ("blob" in resource) return { kind: "file", data: resource.blob, mimeType: resource.mimeType, uri };
  }
  // The members of a link were checked.
  if (type === "resource_link" && isContentBlock(block)) return { kind: "link", link: block as ResourceLink };
  return UNKNOWN;
}
