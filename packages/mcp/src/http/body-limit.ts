const CODE = "ERR_BODY_TOO_LARGE";

/** The error with which `SendResponse.text` refuses a body; the limit counts decoded bytes, so a small bomb meets it too. */
export function bodyTooLarge(maxBytes: number): Error {
  return Object.assign(new Error(`the body is longer than ${maxBytes} bytes`), { code: CODE });
}

/** True for an error made by `bodyTooLarge`, whichever copy of the package made it. */
export function isBodyTooLarge(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === CODE;
}

/** Reads a body to its end as UTF-8. Rejects, and stops reading, as soon as it is longer than `maxBytes`. */
export async function readText(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw bodyTooLarge(maxBytes);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
