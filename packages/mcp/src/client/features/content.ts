import { fromBase64 } from "../../encoding/base64.js";
import { blockContent, type ContentBlock, type ResourceContents } from "../../protocol/features/content.js";

/** The result of a tool call, a resource read or a prompt request. */
export type Contentful =
  | { content: readonly ContentBlock[] }
  | { contents: readonly ResourceContents[] }
  | { messages: readonly { content: ContentBlock }[] };

/**
 * Returns the text of a result, with the blocks separated by line breaks. Omits content that is not text.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function textOf(result: Contentful): string {
  if ("contents" in result) return joined(result.contents.map((entry) => ("text" in entry ? entry.text : undefined)));
  const blocks = "content" in result ? result.content : result.messages.map(({ content }) => content);
  return joined(blocks.map(blockText));
}

/** Returns the text of a block. Undefined for content that is not text. */
export function blockText(block: ContentBlock): string | undefined {
  if (block.type === "text") return block.text;
  const content = blockContent(block);
  return content.kind === "text" ? content.text : undefined;
}

function joined(texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join("\n");
}

/**
 * Decodes the bytes of an image, audio or binary resource. Throws for invalid Base64.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function bytesOf(block: { data: string } | { blob: string }): Uint8Array {
  return fromBase64("data" in block ? block.data : block.blob);
}
