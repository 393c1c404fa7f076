import { isObject } from "../../jsonrpc/message.js";

/** How clients see the offers of a mounted server: names as `prefix_name`, URIs with `prefix+` in front. */
export interface MountedNames {
  readonly prefix: string;
  /** Whether the mounted server serves a URI in a result; other URIs, such as web addresses, stay unchanged. */
  serves(uri: string): boolean;
}

type Members = Record<string, unknown>;

function outerName(prefix: string, name: string): string {
  return `${prefix}_${name}`;
}

function outerUri(prefix: string, uri: string): string {
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
export function outerItem(names: MountedNames, item: Members): Members {
  const { name, uri, uriTemplate } = item;
  return {
    ...item,
    ...(typeof name === "string" ? { name: outerName(names.prefix, name) } : {}),
    ...(typeof uri === "string" ? { uri: outerUri(names.prefix, uri) } : {}),
    ...(typeof uriTemplate === "string" ? { uriTemplate: outerUri(names.prefix, uriTemplate) } : {}),
  };
}

/** A result with its URIs as clients see them; the same object when it has none. */
export function outerResult(names: MountedNames, method: string, result: object): object {
  if (method === "tools/call") return withList(result, "content", (block) => outerBlock(names, block));
  if (method === "prompts/get") {
    return withList(result, "messages", (message) => {
      const content = isObject(message["content"]) ? outerBlock(names, message["content"]) : message["content"];
      return content === message["content"] ? message : { ...message, content };
    });
  }
  if (method !== "resources/read") return result;
  return withList(result, "contents", ({ uri, ...others }) => ({
    uri: outerUri(names.prefix, String(uri)),
    ...others,
  }));
}

function outerBlock(names: MountedNames, block: Members): Members {
  const { type, uri, resource } = block;
  if (type === "resource_link" && typeof uri === "string" && names.serves(uri)) {
    return { ...block, uri: outerUri(names.prefix, uri) };
  }
  if (type !== "resource" || !isObject(resource) || typeof resource["uri"] !== "string") return block;
  if (!names.serves(resource["uri"])) return block;
  return { ...block, resource: { ...resource, uri: outerUri(names.prefix, resource["uri"]) } };
}

function withList(result: object, member: string, change: (item: Members) => Members): object {
  const list = (result as Members)[member];
  if (!Array.isArray(list)) return result;
  const changed = list.map((item: unknown) => (isObject(item) ? change(item) : item));
  return changed.every((item, index) => item === list[index]) ? result : { ...result, [member]: changed };
}
