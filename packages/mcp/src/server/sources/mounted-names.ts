import { isObject } from "../../jsonrpc/message.js";

/** How clients see the offers of one of several servers that are served as one. */
export interface OfferNames {
  name(inner: string): string;
  uri(inner: string): string;
  /** Begins a check of the URIs of one result: whether that server serves one. Others, such as web addresses, stay unchanged. */
  serving(): (uri: string) => boolean;
}

type Members = Record<string, unknown>;

/** The names of a mounted server: `prefix_name`, and URIs with `prefix+` in front. */
export function mountedNames(prefix: string, serves: (uri: string) => boolean): OfferNames {
  return { name: (inner) => `${prefix}_${inner}`, uri: (inner) => outerUri(prefix, inner), serving: () => serves };
}

export function outerUri(prefix: string, uri: string): string {
  // Schemes are case-insensitive (RFC 3986), and a client may change the case before it sends the URI back.
  return `${prefix.toLowerCase()}+${uri}`;
}

/** The name without the prefix; undefined for a name without this prefix. */
export function innerName(prefix: string, name: string): string | undefined {
  return name.startsWith(`${prefix}_`) ? name.slice(prefix.length + 1) : undefined;
}

export function innerUri(prefix: string, uri: string): string | undefined {
  const start = `${prefix.toLowerCase()}+`;
  return uri.slice(0, start.length).toLowerCase() === start ? uri.slice(start.length) : undefined;
}

/** An item of a list with its name and URI as clients see them. */
export function outerItem(names: OfferNames, item: Members): Members {
  const { name, uri, uriTemplate } = item;
  return {
    ...item,
    ...(typeof name === "string" ? { name: names.name(name) } : {}),
    ...(typeof uri === "string" ? { uri: names.uri(uri) } : {}),
    ...(typeof uriTemplate === "string" ? { uriTemplate: names.uri(uriTemplate) } : {}),
  };
}

/** A result with its URIs as clients see them; the same object when it has none. */
export function outerResult(names: OfferNames, method: string, result: object): object {
  const serves = names.serving();
  if (method === "tools/call") return withList(result, "content", (block) => outerBlock(names, serves, block));
  if (method === "prompts/get") {
    return withList(result, "messages", (message) => {
      const content = isObject(message["content"]) ? outerBlock(names, serves, message["content"]) : message["content"];
      return content === message["content"] ? message : { ...message, content };
    });
  }
  if (method !== "resources/read") return result;
  return withList(result, "contents", ({ uri, ...others }) => ({
    uri: names.uri(String(uri)),
    ...others,
  }));
}

function outerBlock(names: OfferNames, serves: (uri: string) => boolean, block: Members): Members {
  const { type, uri, resource } = block;
  if (type === "resource_link" && typeof uri === "string" && serves(uri)) {
    return { ...block, uri: names.uri(uri) };
  }
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
