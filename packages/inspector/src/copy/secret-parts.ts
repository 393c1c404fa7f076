import { isSecretName, looksSecret, REDACTED } from "@parley/mcp/recording";

/** A text, or the name of a variable that holds a secret. */
export type TextPart = string | { readonly variable: string };

/** A header. If the value is a secret, a variable replaces the value. */
export interface CopiedHeader {
  readonly name: string;
  readonly value: TextPart;
}

/** Headers that HTTP programs set themselves, or that belong to a single request or session. */
const AUTOMATIC =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|user-agent|last-event-id|mcp-session-id|traceparent|tracestate|baggage|sec-.*|:.*)$/;
/** Headers that every client of the protocol sets itself. */
const PROTOCOL = /^(?:accept|content-type|mcp-.*)$/;

/**
 * Returns the headers that a copied request must contain. `all` includes the headers of the protocol, for programs that do not set
 * them, such as `curl`.
 */
export function copiedHeaders(
  headers: Readonly<Record<string, string>> | undefined,
  which: "all" | "own",
): CopiedHeader[] {
  return Object.entries(headers ?? {}).flatMap(([given, value]) => {
    const name = given.toLowerCase();
    // Omits headers whose name or value HTTP forbids. Also omits values with non-ASCII characters, which programs
    // encode differently.
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\x7e]/.test(value)) return [];
    if (AUTOMATIC.test(name) || (which === "own" && PROTOCOL.test(name))) return [];
    return [{ name, value: PROTOCOL.test(name) ? value : valuePart(name, value) }];
  });
}

/** Returns an address with variables for its secrets. */
export function urlParts(url: string): TextPart[] {
  const [, before = "", credentials = "", rest = ""] = /^([a-z][a-z\d+.-]*:\/\/)(?:([^/?#]*)@)?(.*)$/is.exec(url) ?? [];
  if (before === "") return [url];
  const parts: TextPart[] = credentials === "" ? [before] : [before, { variable: "URL_CREDENTIALS" }, "@"];
  const [path = "", ...query] = rest.split(/(?=[?&#])/);
  parts.push(path);
  for (const piece of query) {
    const at = piece.indexOf("=");
    const [name, value] = at < 0 ? [piece, ""] : [piece.slice(0, at + 1), piece.slice(at + 1)];
    parts.push(name, value === "" ? "" : valuePart(name.slice(1, -1), value));
  }
  return joined(parts);
}

function valuePart(name: string, value: string): TextPart {
  if (value === "") return value;
  if (isSecretName(name)) return { variable: variableOf(name) };
  // The suffix avoids variables with another meaning, such as `PATH`.
  return looksSecret(value) || value.includes(REDACTED) ? { variable: `${variableOf(name)}_SECRET` } : value;
}

function variableOf(name: string): string {
  return name
    .toUpperCase()
    .replace(/[^A-Z\d]+/g, "_")
    .replace(/^(?=\d)/, "_");
}

function joined(parts: readonly TextPart[]): TextPart[] {
  const found: TextPart[] = [];
  for (const part of parts) {
    const last = found.at(-1);
    if (typeof part === "string" && typeof last === "string") found[found.length - 1] = last + part;
    else if (part !== "") found.push(part);
  }
  return found;
}
