import { McpError } from "../../protocol/error.js";

/** Where a request names its server; exactly one of these. */
export type ServerNaming =
  /** The part of the path after this prefix, which begins and ends with `/`. */
  | { readonly path: string }
  /** The value of this header. */
  | { readonly header: string }
  /** The host is the name, a dot, and this domain. */
  | { readonly host: string };

/** A request of `node:http`, of a framework built on it, or of `fetch`: what is read of it. */
export interface NamedRequest {
  readonly url?: string | undefined;
  /** Frameworks remove the mount path from `url`, and keep the whole here. */
  readonly originalUrl?: unknown;
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The name that a request gives, and what follows it in the path. */
export interface RequestedName {
  readonly name: string | undefined;
  readonly rest: string;
  /** True if it was read from where capitals mean nothing. */
  readonly anyCase?: boolean;
}

/** Makes the function that reads the server's name from a request. Throws for a naming that cannot work. */
export function serverNaming(by: ServerNaming = { path: "/mcp/" }): (request: NamedRequest) => RequestedName {
  if ("path" in by && /^\/(?:[^?#]*\/)?$/.test(by.path)) return byPath(by.path);
  if ("header" in by && /^[A-Za-z0-9-]+$/.test(by.header)) return byHeader(by.header.toLowerCase());
  if ("host" in by && /^[A-Za-z0-9.-]+$/.test(by.host)) return byHost(`.${by.host.toLowerCase()}`);
  throw new McpError("invalid_definition", `\`by\` is ${JSON.stringify(by)}`, {
    fix: 'Pass `{ path: "/mcp/" }`, `{ header: "x-mcp-server" }` or `{ host: "example.com" }`.',
  });
}

/** The path of a request without its query. */
export function pathOf({ url = "/", originalUrl }: NamedRequest): string {
  const whole = typeof originalUrl === "string" ? originalUrl : url;
  const path = whole.split(/[?#]/, 1)[0] ?? "/";
  return path.startsWith("/") ? path : (/^[a-z]+:\/\/[^/]*(\/.*)?$/i.exec(path)?.[1] ?? "/");
}

function byPath(prefix: string): (request: NamedRequest) => RequestedName {
  return (request) => {
    const path = pathOf(request);
    if (!path.startsWith(prefix)) return { name: undefined, rest: "" };
    const end = path.indexOf("/", prefix.length);
    // Compared as it is written: names need no escapes, so that nothing is decoded that a proxy has read otherwise.
    if (end < 0) return { name: path.slice(prefix.length), rest: "" };
    return { name: path.slice(prefix.length, end), rest: path.slice(end) };
  };
}

function byHeader(header: string): (request: NamedRequest) => RequestedName {
  return (request) => ({ name: headerOf(request, header), rest: "" });
}

function byHost(domain: string): (request: NamedRequest) => RequestedName {
  return (request) => {
    // Of `fetch`, some runtimes leave the header out because the URL has the host.
    const address = request.url ?? "";
    const host = headerOf(request, "host") ?? (URL.canParse(address) ? new URL(address).host : "");
    const plain = host.toLowerCase().replace(/:\d+$/, "");
    return { name: plain.endsWith(domain) ? plain.slice(0, -domain.length) : undefined, rest: "", anyCase: true };
  };
}

function headerOf({ headers }: NamedRequest, name: string): string | undefined {
  if (typeof headers.get === "function") return headers.get(name) ?? undefined;
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name];
  return typeof value === "string" ? value : value?.[0];
}
