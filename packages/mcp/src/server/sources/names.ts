import { isObject } from "../../jsonrpc/message.js";

/** The names under which clients see the offers of one of several servers that are served as one. */
export interface OfferNames {
  name(inner: string): string;
  uri(inner: string): string;
  /** Begins a check of the URIs of one result: whether that server serves one. Others, such as web addresses, stay unchanged. */
  serving(): (uri: string) => boolean;
}

type Members = Record<string, unknown>;

/** The scheme of pages of tools; clients take no other for a page. */
const PAGES = "ui://";

/** A URI as clients see it: with `prefix+` in front, behind the scheme for pages of tools. */
export function prefixedUri(prefix: string, uri: string): string {
  // Schemes are case-insensitive (RFC 3986), and a client may change the case before it sends the URI back.
  const start = `${prefix.toLowerCase()}+`;
  return uri.startsWith(PAGES) ? `${PAGES}${start}${uri.slice(PAGES.length)}` : `${start}${uri}`;
}

/** The parts of a URI that `prefixedUri` made; undefined for a URI without a prefix. */
export function splitUri(uri: string): { prefix: string; inner: string } | undefined {
  const scheme = uri.startsWith(PAGES) ? PAGES : "";
  const plus = uri.indexOf("+", scheme.length);
  if (plus === -1) return undefined;
  return { prefix: uri.slice(scheme.length, plus).toLowerCase(), inner: scheme + uri.slice(plus + 1) };
}

/** An item of a list with its name, its URI and the address of its page as clients see them. */
export function outerItem(names: OfferNames, item: Members): Members {
  const { name, uri, uriTemplate } = item;
  return withPageUri(
    {
      ...item,
      ...(typeof name === "string" ? { name: names.name(name) } : {}),
      ...(typeof uri === "string" ? { uri: names.uri(uri) } : {}),
      ...(typeof uriTemplate === "string" ? { uriTemplate: names.uri(uriTemplate) } : {}),
    },
    names,
  );
}

function withPageUri(item: Members, names: OfferNames): Members {
  const { _meta: meta } = item;
  if (!isObject(meta)) return item;
  const { ui, "ui/resourceUri": flat } = meta;
  const page = isObject(ui) ? ui["resourceUri"] : undefined;
  if (typeof page !== "string" && typeof flat !== "string") return item;
  return {
    ...item,
    _meta: {
      ...meta,
      ...(isObject(ui) && typeof page === "string" ? { ui: { ...ui, resourceUri: names.uri(page) } } : {}),
      ...(typeof flat === "string" ? { "ui/resourceUri": names.uri(flat) } : {}),
    },
  };
}

/** A result with its URIs as clients see them; the same object when it has none. */
export function outerResult(names: OfferNames, method: string, result: object): object {
  // Most results have no link.
  let check: ((uri: string) => boolean) | undefined;
  const serves = (uri: string) => {
    check ??= names.serving();
    return check(uri);
  };
  if (method === "tools/call") return withList(result, "content", (block) => outerBlock(names, serves, block));
  if (method === "prompts/get") {
    return withList(result, "messages", (message) => {
      const content = isObject(message["content"]) ? outerBlock(names, serves, message["content"]) : message["content"];
      return content === message["content"] ? message : { ...message, content };
    });
  }
  if (method !== "resources/read") return result;
  return withList(result, "contents", ({ uri, ...others }) => ({ uri: names.uri(String(uri)), ...others }));
}

function outerBlock(names: OfferNames, serves: (uri: string) => boolean, block: Members): Members {
  const { type, uri, resource } = block;
  if (type === "resource_link" && typeof uri === "string" && serves(uri)) return { ...block, uri: names.uri(uri) };
  if (type !== "resource" || !isObject(resource) || typeof resource["uri"] !== "string") return block;
  if (!serves(resource["uri"])) return block;
  return { ...block, resource: { ...resource, uri: names.uri(resource["uri"]) } };
}

function withList(result: object, member: string, change: (item: Members) => Members): object {
  const list = (result as Members)[member];
  if (!Array.isArray(list)) return result;
  const changed = list.map((item: unknown) => (isObject(item) ? change(item) : item));
  return changed.every((item, index) => item === list[index]) ? result : { ...result, [member]: changed };
}
