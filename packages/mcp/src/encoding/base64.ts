/** Encodes bytes as Base64, the encoding of binary data in content blocks. */
export function toBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  // Encodes in chunks, because engines limit the number of arguments of `fromCharCode`.
  for (let at = 0; at < bytes.length; at += 8190) parts.push(String.fromCharCode(...bytes.subarray(at, at + 8190)));
  return btoa(parts.join(""));
}

/** Decodes Base64. Throws for any other text. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** Encodes bytes as base64url without padding (RFC 4648, section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Decodes base64url. Returns undefined unless the text is the canonical encoding of the bytes. */
export function fromBase64Url(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const bytes = fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
  // The last character may have unused bits, so up to 15 other texts would decode to the same bytes. They are refused.
  return toBase64Url(bytes) === text ? bytes : undefined;
}

/** Returns a random name made from `bytes` random bytes. Its characters need no escaping in headers and URLs. */
export function randomName(source: { randomBytes(count: number): Uint8Array }, bytes: number): string {
  return toBase64Url(source.randomBytes(bytes));
}
