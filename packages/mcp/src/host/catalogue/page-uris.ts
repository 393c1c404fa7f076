import { isObject } from "../../jsonrpc/message.js";
import { outerUri } from "../../server/sources/mounted-names.js";

/** The scheme of pages of tools; clients take no other for a page. */
const PAGES = "ui://";

/** A URI as clients see it: with `prefix+` in front, behind the scheme for pages of tools. */
export function hostUri(prefix: string, uri: string): string {
  return uri.startsWith(PAGES) ? `${PAGES}${prefix}+${uri.slice(PAGES.length)}` : outerUri(prefix, uri);
}

/** What `hostUri` made a URI of; undefined for a URI without a prefix. */
export function splitHostUri(uri: string): { prefix: string; inner: string } | undefined {
  const scheme = uri.startsWith(PAGES) ? PAGES : "";
  const plus = uri.indexOf("+", scheme.length);
  if (plus === -1) return undefined;
  return { prefix: uri.slice(scheme.length, plus).toLowerCase(), inner: scheme + uri.slice(plus + 1) };
}

/** An entry of a list with the address of its page, if it has one, as clients see it. */
export function withPageUri(item: Record<string, unknown>, uri: (inner: string) => string): Record<string, unknown> {
  const { _meta: meta } = item;
  if (!isObject(meta)) return item;
  const { ui, "ui/resourceUri": flat } = meta;
  const page = isObject(ui) ? ui["resourceUri"] : undefined;
  if (typeof page !== "string" && typeof flat !== "string") return item;
  return {
    ...item,
    _meta: {
      ...meta,
      ...(isObject(ui) && typeof page === "string" ? { ui: { ...ui, resourceUri: uri(page) } } : {}),
      ...(typeof flat === "string" ? { "ui/resourceUri": uri(flat) } : {}),
    },
  };
}
