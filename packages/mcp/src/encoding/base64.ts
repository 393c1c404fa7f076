/** Encodes bytes as Base64, as content blocks contain it. */
export function toBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  // Chunks keep the argument list of `fromCharCode` within every engine's limit.
  for (let at = 0; at < bytes.length; at += 8190) parts.push(String.fromCharCode(...bytes.subarray(at, at + 8190)));
  return btoa(parts.join(""));
}
