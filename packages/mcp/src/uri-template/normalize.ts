// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds.
const CONTROL = /[\u0000-\u001f\u007f]/;
/**
 * Triplets that must stay encoded, because the plain character has another meaning: reserved characters, "%" and
 * controls.
 */
const MEANINGFUL = "2[13-9A-CF]|3[ABDF]|40|5[BD]|[01][0-9A-F]|7F";
const OTHER_TRIPLET = /* @__PURE__ */ new RegExp(`%(?!${MEANINGFUL})`, "i");
const MEANINGFUL_TRIPLET = /* @__PURE__ */ new RegExp(`%(${MEANINGFUL})`, "gi");

/**
 * Converts equivalent URIs to the same spelling: `%41` becomes `A`, `%c3%a9` becomes `é`. Reserved characters are
 * unchanged (RFC 3986, 6.2.2.2).
 *
 * Returns `undefined` for an invalid URI: a control character, a `%` without two digits, or bytes that are not
 * UTF-8. In the result every `%` begins a triplet for one ASCII character, so decoding any part with whole triplets
 * cannot fail.
 */
export function normalizeUri(uri: string): string | undefined {
  if (CONTROL.test(uri)) return undefined;
  if (!uri.includes("%") || !OTHER_TRIPLET.test(uri)) return uri;
  try {
    // Uses two native passes, because a callback per triplet would take several milliseconds for 64 KB of triplets.
    return decodeURIComponent(uri.replace(MEANINGFUL_TRIPLET, "%25$1"));
  } catch {
    return undefined;
  }
}

/**
 * Converts triplets to upper case. Needed only if the template contains triplets, because triplets in values are
 * decoded and not compared.
 */
export function upperCaseTriplets(uri: string): string {
  return uri.replace(/%[0-7][a-f]/g, (triplet) => triplet.toUpperCase());
}
