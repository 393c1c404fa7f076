/**
 * Returns a URL for error messages. Removes query values and the user information before the host: both may be secrets,
 * and messages end up in logs.
 */
export function shownUrl(url: string): string {
  const address = url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$1…@");
  const at = address.indexOf("?");
  if (at === -1) return address;
  const query = address.slice(at + 1).split("#", 1)[0] ?? "";
  const parts = query.split("&").map((part) => (part.includes("=") ? `${part.slice(0, part.indexOf("="))}=…` : "…"));
  return `${address.slice(0, at)}?${parts.join("&")}`;
}
