/** A name that HTTP allows for a header. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Headers that were typed as lines of `Name: value`. Throws with the line that is none. */
export function headerLines(text: string): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const line of text.split("\n").map((line) => line.trim())) {
    if (line === "") continue;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).trim();
    if (!NAME.test(name)) throw new Error(`"${line}" is no header: write each on a line of its own, as Name: value`);
    headers[name] = line.slice(colon + 1).trim();
  }
  return headers;
}
