/** Characters that end or reorder displayed text, or that URL parsers silently drop. An address never needs them. */
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zs}\p{Zl}\p{Zp}]/u;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * True if an address from a peer is safe to display and open: `https`, or `http` on this machine, without a user name,
 * a password or characters that hide a part of the address.
 *
 * Spec: Elicitation, "Safe URL Handling", https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#safe-url-handling
 */
export function isWebAddress(text: unknown): text is string {
  if (typeof text !== "string" || FORBIDDEN.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname));
}
