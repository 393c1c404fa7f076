import { isObject } from "../../jsonrpc/message.js";

/** How what a mounted server offers is named outside: `prefix_name`, and `prefix+` before every URI. */
export interface MountedNames {
  readonly prefix: string;
  /** Whether a URI in a result is one that the mounted server serves; others, such as web addresses, stay as they are. */
  serves(uri: string): boolean;
}

type Members = Record<string, unknown>;

function outerName(prefix: string, name: string): string {
  return `${prefix}_${name}`;
}

function outerUri(prefix: string, uri: string): string {
  // Schemes know no capitals: a client may have written it in its own way by the time it comes back.
  return `${prefix.toLowerCase()}+${uri}`;
}

/** The name inside; undefined for the name of something else. */
export function innerName(prefix: string, name: string): string | undefined {
  return name.startsWith(`${prefix}_`) ? name.slice(prefix.length + 1) : undefined;
}

export function innerUri(prefix: string, uri: string): string | undefined {
  const start = `${prefix.toLowerCase()}+`;
  return uri.slice(0, start.length).toLowerCase() === start ? uri.slice(start.length) : undefined;
}

/** An item of a list, named as it is outside. */
export function outerItem(names: MountedNames, item: Members): Members {
  const { name, uri, uriTemplate } = item;
  return {
    ...item,
    ...(typeof name === "string" ? { name: outerName(names.prefix, name) } : {}),
    ...(typeof uri === "string" ? { uri: outerUri(names.prefix, uri) } : {}),
    ...(typeof uriTemplate === "string" ? { uriTemplate: outerUri(names.prefix, uriTemplate) } : {}),
  };
}

/** A result whose URIs are those outside; the same object when it has none. */
export function outerResult(names: MountedNames, method: string, result: object): object {
  if (method === "tools/call") return withList(result, "content", (block) => outerBlock(names, block));
  if (method === "prompts/get") {
    return withList(result, "messages", (message) => {
      const content = isObject(message["content"]) ? outerBlock(names, message["content"]) : message["content"];
      return content === message["content"] ? message : { ...message, content };
    });
  }
  if (method !== "resources/read") return result;
  return withList(result, "contents", ({ uri, ...said }) => ({ uri: outerUri(names.prefix, String(uri)), ...said }));
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
