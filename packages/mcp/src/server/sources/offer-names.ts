import { isObject } from "../../jsonrpc/message.js";

/**
 * Converts the names of one server's offers to the names that clients see, if another server serves the offers of
 * several servers.
 */
export interface OfferNames {
  /** Returns the name that clients see. */
  name(inner: string): string;
  /** Returns the URI that clients see. */
  uri(inner: string): string;
  /**
   * Returns a function that checks the URIs of one result: true if the server serves the URI. Other URIs, such as web
   * addresses, stay unchanged.
   */
  serving(): (uri: string) => boolean;
}

type Members = Record<string, unknown>;

/** The scheme of tool pages. Clients accept no other scheme for a page. */
const PAGES = "ui://";

/** Returns a URI as clients see it: with `prefix+` in front, or after the scheme for tool pages. */
export function prefixedUri(prefix: string, uri: string): string {
  // Schemes are case-insensitive (RFC 3986), and a client may change the case before it sends the URI back. The prefix
  // is therefore always in lower case.
  const start = `${prefix.toLowerCase()}+`;
  return uri.startsWith(PAGES) ? `${PAGES}${start}${uri.slice(PAGES.length)}` : `${start}${uri}`;
}

/** Splits a URI that `prefixedUri` returned. Undefined for a URI without a prefix. */
export function splitUri(uri: string): { prefix: string; inner: string } | undefined {
  const scheme = uri.startsWith(PAGES) ? PAGES : "";
  const plus = uri.indexOf("+", scheme.length);
  if (plus === -1) return undefined;
  return { prefix: uri.slice(scheme.length, plus).toLowerCase(), inner: scheme + uri.slice(plus + 1) };
}

/** Returns a list entry with its name, its URI and the URI of its page as clients see them. */
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

/** Returns a result with its URIs as clients see them. The same object if nothing changes. */
export function outerResult(names: OfferNames, method: string, result: object): object {
  // Created on demand, because most results have no link.
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
