// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds.
const CONTROL = /[\u0000-\u001f\u007f]/;
/** Triplets that stay, because the plain character means something else: reserved characters, "%" and controls. */
const MEANINGFUL = "2[13-9A-CF]|3[ABDF]|40|5[BD]|[01][0-9A-F]|7F";
const OTHER_TRIPLET = new RegExp(`%(?!${MEANINGFUL})`, "i");
const MEANINGFUL_TRIPLET = new RegExp(`%(${MEANINGFUL})`, "gi");

/**
 * Gives equal URIs one spelling: `%41` becomes `A`, `%c3%a9` becomes `é`; reserved characters stay as they are.
 *
 * Returns `undefined` for what is no URI: a control character, a `%` without two digits, bytes that are not UTF-8. In the
 * result every `%` begins a triplet for one ASCII character, so that decoding any part that cuts none cannot fail.
 */
export function normalizeUri(uri: string): string | undefined {
  if (CONTROL.test(uri)) return undefined;
  if (!uri.includes("%") || !OTHER_TRIPLET.test(uri)) return uri;
  try {
    // Two passes of native code: with a callback for each triplet, 64 KB of them would take some milliseconds.
    return decodeURIComponent(uri.replace(MEANINGFUL_TRIPLET, "%25$1"));
  } catch {
    return undefined;
  }
}

/** Gives triplets one case. Only needed where a template has some: no other part of a match looks at them. */
export function upperCaseTriplets(uri: string): string {
  return uri.replace(/%[0-7][a-f]/g, (triplet) => triplet.toUpperCase());
}
