import { isReservedName } from "./field-reader.js";

const LINE = /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(.*?)\s*$/;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/**
 * Reads lines of the form `NAME=value`, with `#` comments, `export`, and single or double quotes; double quotes know `\n` and the
 * like. Other lines are passed over, as other readers do. Nothing is filled in.
 */
export function parseEnvFile(text: string): Record<string, string> {
  const found: [string, string][] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, name, raw = ""] = LINE.exec(line) ?? [];
    if (name !== undefined && !isReservedName(name)) found.push([name, unquoted(raw)]);
  }
  return Object.fromEntries(found);
}

function unquoted(raw: string): string {
  const double = /^"((?:[^"\\]|\\.)*)"/.exec(raw)?.[1];
  if (double !== undefined) return double.replace(/\\(.)/g, (_, char: string) => ESCAPES[char] ?? char);
  const single = /^'([^']*)'/.exec(raw)?.[1];
  return single ?? raw.replace(/\s+#.*$/, "").replace(/^#.*$/, "");
}
