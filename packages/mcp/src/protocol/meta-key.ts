const LABEL = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
const KEY = new RegExp(`^(?:(${LABEL}(?:\\.${LABEL})*)/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$`);

/**
 * Whether a `_meta` key is well-formed, and whether the protocol reserves its prefix.
 *
 * Spec: Overview, "_meta", https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
export function checkMetaKey(key: string): "free" | "reserved" | "malformed" {
  const match = key.length <= 512 ? KEY.exec(key) : null;
  if (match === null) return "malformed";
  const second = match[1]?.split(".")[1];
  return second === "modelcontextprotocol" || second === "mcp" ? "reserved" : "free";
}
