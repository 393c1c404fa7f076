import { blockContent, type ContentBlock } from "../protocol/features/content.js";
import type { CallToolResult } from "../protocol/features/tools.js";

/** One part of a result, in a form common to all providers. */
export type ResultPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio" | "file"; readonly data: string; readonly mimeType: string };

/** Splits a result into parts. Uses the structured content, as JSON, if the result has no content blocks. */
export function resultParts({ content, structuredContent }: CallToolResult): ResultPart[] {
  if (content.length > 0 || structuredContent === undefined) return content.map(partOf);
  return [{ type: "text", text: JSON.stringify(structuredContent) }];
}

function partOf(block: ContentBlock): ResultPart {
  const content = blockContent(block);
  switch (content.kind) {
    case "text":
      return { type: "text", text: content.text };
    case "link": {
      const { title, name, description, uri } = content.link;
      return { type: "text", text: [title ?? name, description, uri].filter(Boolean).join(" — ") };
    }
    case "unknown":
      return { type: "text", text: JSON.stringify(block) };
    default: {
      const { kind, data, mimeType = "application/octet-stream" } = content;
      return { type: kind, data, mimeType };
    }
  }
}

/** Returns a part as text. Images, audio and files become a description with type and size. */
export function partText(part: ResultPart): string {
  if (part.type === "text") return part.text;
  return `[${part.type} of type ${part.mimeType}, ${Math.floor((part.data.length * 3) / 4)} bytes]`;
}

/** Returns the whole result as text, one part per line. */
export function textOfResult(result: CallToolResult): string {
  return resultParts(result).map(partText).join("\n");
}

const IMAGES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** True for an image of a type that OpenAI and Anthropic both accept. */
export function isSupportedImage(part: ResultPart): part is Extract<ResultPart, { data: string }> {
  return part.type !== "text" && IMAGES.includes(part.mimeType);
}
