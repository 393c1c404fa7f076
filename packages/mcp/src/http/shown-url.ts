/**
 * A URL for error messages: query values are removed, because many servers accept keys there and messages end up in
 * logs.
 */
export function shownUrl(address: string): string {
  const at = address.indexOf("?");
  if (at === -1) return address;
  const query = address.slice(at + 1).split("#", 1)[0] ?? "";
  const parts = query.split("&").map((part) => (part.includes("=") ? `${part.slice(0, part.indexOf("="))}=…` : "…"));
  return `${address.slice(0, at)}?${parts.join("&")}`;
}
