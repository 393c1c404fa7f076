import { isObject } from "../../jsonrpc/message.js";
import type { Icon } from "../implementation.js";
import type { MetaObject } from "../json.js";

/** The author of a message. */
export type Role = "user" | "assistant";

/** Hints to the client about how to use an object. */
export interface Annotations {
  /** The intended audience: the user, the model, or both. */
  audience?: Role[];
  /** The importance, from 0 (optional) to 1 (effectively required). */
  priority?: number;
  /** The time of the last change, in ISO 8601 format. From 2025-06-18 on. */
  lastModified?: string;
}

/** A text block. */
export interface TextContent {
  /** Distinguishes the types of content. */
  type: "text";
  /** The text itself. */
  text: string;
  /** Hints for the client. */
  annotations?: Annotations;
  /** Metadata of the block. */
  _meta?: MetaObject;
}

/** An image block. */
export interface ImageContent {
  /** Distinguishes the types of content. */
  type: "image";
  /** The bytes of the image, in Base64. */
  data: string;
  /** The MIME type of the image, for example `image/png`. */
  mimeType: string;
  /** Hints for the client. */
  annotations?: Annotations;
  /** Metadata of the block. */
  _meta?: MetaObject;
}

/** An audio block. From 2025-03-26 on. */
export interface AudioContent {
  /** Distinguishes the types of content. */
  type: "audio";
  /** The bytes of the audio, in Base64. */
  data: string;
  /** The MIME type of the audio, for example `audio/wav`. */
  mimeType: string;
  /** Hints for the client. */
  annotations?: Annotations;
  /** Metadata of the block. */
  _meta?: MetaObject;
}

/** The contents of a text resource. */
export interface TextResourceContents {
  /** The URI of the resource. */
  uri: string;
  /** The MIME type, if known. */
  mimeType?: string;
  /** The text itself. */
  text: string;
  /** Metadata of the contents. */
  _meta?: MetaObject;
}

/** The contents of a binary resource. */
export interface BlobResourceContents {
  /** The URI of the resource. */
  uri: string;
  /** The MIME type, if known. */
  mimeType?: string;
  /** The bytes of the resource, in Base64. */
  blob: string;
  /** Metadata of the contents. */
  _meta?: MetaObject;
}

/** The contents of a resource: text or bytes. */
export type ResourceContents = TextResourceContents | BlobResourceContents;

/** The contents of a resource inside a tool result or a prompt message. */
export interface EmbeddedResource {
  /** Distinguishes the types of content. */
  type: "resource";
  /** The contents, with the URI of the resource. */
  resource: ResourceContents;
  /** Hints for the client. */
  annotations?: Annotations;
  /** Metadata of the block. */
  _meta?: MetaObject;
}

/** A link to a resource that the server can read. `resources/list` need not include it. From 2025-06-18 on. */
export interface ResourceLink {
  /** Distinguishes the types of content. */
  type: "resource_link";
  /** The URI for `resources/read`. */
  uri: string;
  /** The programmatic name. Shown to users if there is no `title`. */
  name: string;
  /** A human-readable name. */
  title?: string;
  /** A description of the resource, for the model. */
  description?: string;
  /** The MIME type, if known. */
  mimeType?: string;
  /** Size in bytes before encoding, if known. */
  size?: number;
  /** Hints for the client. */
  annotations?: Annotations;
  /** Icons for user interfaces. From 2025-11-25 on. */
  icons?: Icon[];
  /** Metadata of the link. */
  _meta?: MetaObject;
}

/** One content block of a tool result or a prompt message. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** The value of `type` of a content block. */
export type ContentType = ContentBlock["type"];

/** The content types that this library supports. */
export const CONTENT_TYPES: readonly string[] = [
  "text",
  "image",
  "audio",
  "resource",
  "resource_link",
] satisfies readonly ContentType[];

/**
 * True if a value has the members that text or blob resource contents require.
 *
 * @example
 * ```ts
 * import { isResourceContents } from "@parley/mcp/protocol";
 *
 * isResourceContents({ uri: "notes://7", text: "Buy milk" }); // true
 * ```
 */
export function isResourceContents(value: unknown): value is ResourceContents {
  return (
    isObject(value) &&
    typeof value.uri === "string" &&
    (typeof value.text === "string" || typeof value.blob === "string")
  );
}

/**
 * True if a value has the members that its content type requires. Optional and unknown members are not checked: a block
 * with an invalid annotation is still usable.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
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

/** The content of a block, whatever its type: text, bytes in Base64, or a link. */
export type BlockContent =
  | {
      /** Text of a text block or of an embedded text resource. */
      readonly kind: "text";
      /** The text itself. */
      readonly text: string;
      /** The URI of the embedded resource. Undefined for a text block. */
      readonly uri: string | undefined;
    }
  | {
      /** Bytes: of an image, of audio, or of an embedded binary resource (`file`). */
      readonly kind: "image" | "audio" | "file";
      /** The bytes in Base64. */
      readonly data: string;
      /** The MIME type, if known. */
      readonly mimeType: string | undefined;
      /** The URI of the embedded resource. Undefined for an image or audio block. */
      readonly uri: string | undefined;
    }
  | {
      /** A link to a resource. */
      readonly kind: "link";
      /** The block itself. */
      readonly link: ResourceLink;
    }
  | {
      /** A block of an unknown type, or a malformed one. */
      readonly kind: "unknown";
    };

const UNKNOWN: BlockContent = { kind: "unknown" };

/**
 * Reads a content block. Code that displays or converts content can rely on `kind` alone. Unknown and malformed blocks
 * have the kind `unknown`.
 *
 * @example
 * ```ts
 * import { blockContent, type CallToolResult } from "@parley/mcp/protocol";
 *
 * function textOf({ content }: CallToolResult) {
 *   return content.map(blockContent).flatMap((block) => (block.kind === "text" ? [block.text] : [])).join("\n");
 * }
 * ```
 */
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
  // Safe: `isContentBlock` checked the members of a link.
  if (type === "resource_link" && isContentBlock(block)) return { kind: "link", link: block as ResourceLink };
  return UNKNOWN;
}
