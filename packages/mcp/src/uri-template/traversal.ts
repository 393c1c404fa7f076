/**
 * Whether a decoded variable could escape the folder that a handler joins it to.
 *
 * True for a `..` segment (also with the trailing dots or spaces that Windows drops), a backslash or a NUL, each plain or
 * percent-encoded any number of times, because a handler may decode again. Dots inside a name, as in `a..b`, are harmless.
 */
export function hasTraversal(value: string): boolean {
  const decoded = value.includes("%") ? decodeDangerous(value) : value;
  if (decoded.includes("\\") || decoded.includes("\u0000")) return true;
  return decoded.includes("..") && decoded.split("/").some((segment) => /^ *\.\.[. ]*$/.test(segment));
}

const DANGEROUS: Readonly<Record<string, string>> = { "2e": ".", "2f": "/", "5c": "\\", "00": "\u0000" };

function decodeDangerous(value: string): string {
  // "%25252e" is "%2e" after two more decodings: one pass removes every layer.
  return value
    .replace(/%(?:25)+/g, "%")
    .replace(/%(2e|2f|5c|00)/gi, (_, hex: string) => DANGEROUS[hex.toLowerCase()] ?? "");
}
