import { fromBase64 } from "../../encoding/base64.js";
import { blockContent, type ContentBlock, type ResourceContents } from "../../protocol/features/content.js";

/** Anything that carries content: results of tools, of reads and of prompts. */
export type Contentful =
  | { content: readonly ContentBlock[] }
  | { contents: readonly ResourceContents[] }
  | { messages: readonly { content: ContentBlock }[] };

/** All text of a result, one block to a line; other content is left out. */
export function textOf(result: Contentful): string {
  if ("contents" in result) return joined(result.contents.map((entry) => ("text" in entry ? entry.text : undefined)));
  const blocks = "content" in result ? result.content : result.messages.map(({ content }) => content);
  return joined(blocks.map(blockText));
}

/** The text of one block; undefined for content that is not text. */
export function blockText(block: ContentBlock): string | undefined {
  if (block.type === "text") return block.text;
  const content = blockContent(block);
  return content.kind === "text" ? content.text : undefined;
}

function joined(texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join("\n");
}

/** The bytes of an image, a sound or a binary resource. Throws when they are not valid Base64. */
export function bytesOf(block: { data: string } | { blob: string }): Uint8Array {
  return fromBase64("data" in block ? block.data : block.blob);
}
