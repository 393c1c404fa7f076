import type { ContentBlock } from "../protocol/features/content.js";

/**
 * The result of a tool whose JSON text is known already: the structured content was written once for its check and for its
 * text block, and need not be written again for the answer. Only for results that nobody can change any more.
 */
export class WrittenResult {
  readonly content: ContentBlock[];
  readonly structuredContent: unknown;
  readonly #text: string;

  /** `text` is the JSON of `structuredContent`. */
  constructor(structuredContent: unknown, text: string) {
    this.content = [{ type: "text", text }];
    this.structuredContent = structuredContent;
    this.#text = `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text}}`;
  }

  /** The text of a value of this class; undefined for any other. */
  static textOf(value: unknown): string | undefined {
    return typeof value === "object" && value !== null && #text in value ? value.#text : undefined;
  }
}
