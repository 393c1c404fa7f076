const CODE = "ERR_BODY_TOO_LARGE";

/**
 * Creates the error of `SendResponse.text` for a body that is too large. The limit counts decoded bytes, so a small
 * compressed body cannot expand beyond it.
 */
export function bodyTooLarge(maxBytes: number): Error {
  return Object.assign(new Error(`the body is longer than ${maxBytes} bytes`), { code: CODE });
}

/** True if the error was created by `bodyTooLarge`, of this or another copy of the package. */
export function isBodyTooLarge(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === CODE;
}

/** Reads a whole body as UTF-8. Stops reading and rejects as soon as the body is longer than `maxBytes`. */
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
