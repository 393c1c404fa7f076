import { McpError } from "../../../protocol/error.js";

/** A host name and its port, if any. */
interface Authority {
  host: string;
  port: string | undefined;
}

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Lower-case names, IPv4 and bracketed IPv6 with an optional port. Rejects users, paths and spaces. */
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[0-9a-z_](?:[0-9a-z_.-]*[0-9a-z_])?)(?::(\d{1,5}))?$/;

/** Parses a `Host` header. Returns undefined unless the value is a name or an IP address with an optional port. */
export function parseAuthority(value: string): Authority | undefined {
  const match = AUTHORITY.exec(value.toLowerCase());
  const host = match?.[1];
  if (host === undefined || host.includes("..") || Number(match?.[2] ?? 0) > 65_535) return undefined;
  return { host, port: match?.[2] };
}

/** True for the usual names of loopback. `127.1` and other spellings do not count. */
export function isLoopbackName(host: string): boolean {
  return LOOPBACK_NAMES.has(host.toLowerCase());
}

/**
 * Decides which `Host` and `Origin` values are allowed. Prevents DNS rebinding attacks.
 *
 * Spec: Streamable HTTP, "Security Warning",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export interface OriginGuard {
  /** True if the value of `Host` is allowed. */
  host(value: string): boolean;
  /** True if a page of this origin may call the server. */
  origin(value: string): boolean;
  /** True if an allowed name is not loopback, so that other machines may call. */
  readonly beyondLoopback: boolean;
}

export interface OriginOptions {
  publicUrl?: string | undefined;
  allowedHosts?: readonly string[] | undefined;
  allowedOrigins?: readonly string[] | undefined;
  /** Origins that CORS allows. */
  corsOrigins?: "*" | readonly string[] | undefined;
}

/** Builds the guard, which caches the values that it has allowed. */
export function originGuard(options: OriginOptions): OriginGuard {
  const url = options.publicUrl === undefined ? undefined : parsePublicUrl(options.publicUrl);
  const hosts = listOf("allowedHosts", options.allowedHosts).map(hostRule);
  if (url !== undefined) hosts.push(...publicHostRules(url));
  const origins = listOf("allowedOrigins", options.allowedOrigins).map(originRule);
  const { corsOrigins = [] } = options;
  origins.push((origin) => corsOrigins === "*" || corsOrigins.includes(origin));
  if (url !== undefined) origins.push((origin) => origin === url.origin);
  // A public server has no reason to trust pages from the caller's machine, so loopback origins are allowed only
  // without `publicUrl`.
  else origins.push(isLoopbackOrigin);
  return {
    host: cached((value) => {
      const authority = parseAuthority(value);
      if (authority === undefined) return false;
      return isLoopbackName(authority.host) || hosts.some((allows) => allows(authority));
    }),
    origin: cached((value) => origins.some((allows) => allows(value))),
    beyondLoopback: hosts.length > 0 && ![...hostNames(options, url)].every(isLoopbackName),
  };
}

function listOf(option: string, value: readonly string[] = []): readonly string[] {
  if (Array.isArray(value)) return value;
  throw new McpError("invalid_definition", `\`${option}\` is not a list`, { fix: "Write a list of strings." });
}

/**
 * Caches allowed values. The cache is bounded: honest clients send few different values, and hostile ones must not fill
 * memory.
 */
function cached(decide: (value: string) => boolean): (value: string) => boolean {
  const accepted = new Set<string>();
  return (value) => {
    if (accepted.has(value)) return true;
    if (!decide(value)) return false;
    if (accepted.size < 64) accepted.add(value);
    return true;
  };
}

function parsePublicUrl(value: string): URL {
  let url: URL | undefined;
  try {
    url = new URL(value);
  } catch {
    // The check below throws the error.
  }
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:") || url.username !== "") {
    throw new McpError(
      "invalid_definition",
      `\`publicUrl\` is not a valid http or https URL: ${JSON.stringify(value)}`,
      {
        fix: 'Pass the address that clients use, for example "https://example.com/mcp".',
      },
    );
  }
  return url;
}

function* hostNames(options: OriginOptions, url: URL | undefined): Generator<string> {
  for (const entry of options.allowedHosts ?? []) yield parseAuthority(entry)?.host ?? entry;
  if (url !== undefined) yield url.hostname;
}

type HostRule = (authority: Authority) => boolean;

function publicHostRules(url: URL): HostRule[] {
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  // Clients omit the default port of the scheme, so it is optional.
  const optional = url.port === "";
  return [({ host, port: sent }) => host === url.hostname && (sent === port || (optional && sent === undefined))];
}

/** `*` allows every host, `*.example.com` every name below it, and a name without a port any port. */
function hostRule(entry: string): HostRule {
  if (entry === "*") return () => true;
  const wildcard = entry.startsWith("*.");
  const allowed = parseAuthority(wildcard ? entry.slice(2) : entry);
  if (allowed === undefined) {
    throw new McpError("invalid_definition", `${JSON.stringify(entry)} in \`allowedHosts\` is not a valid host name`, {
      fix: 'Write names such as "example.com", "example.com:8080" or "*.example.com", without a scheme or path.',
    });
  }
  return ({ host, port }) =>
    (allowed.port === undefined || allowed.port === port) &&
    (wildcard ? host.endsWith(`.${allowed.host}`) : host === allowed.host);
}

function originRule(entry: string): (origin: string) => boolean {
  if (entry === "*") return () => true;
  const origin = checkedOrigin(entry, "allowedOrigins");
  return (value) => value === origin;
}

/**
 * Normalizes the origins to the form that browsers send, without a final slash. Returns `"*"` if the list contains
 * `"*"`. Throws if the options are not lists of origins.
 */
export function corsOrigins({
  origins,
  headers = [],
}: {
  readonly origins: unknown;
  readonly headers?: unknown;
}): "*" | string[] {
  for (const [name, value] of [
    ["origins", origins === "*" ? [] : origins],
    ["headers", headers],
  ] as const) {
    if (Array.isArray(value)) continue;
    const fix =
      'Write a list of strings, for example ["https://app.example.com"]; `origins` may be "*" for every page.';
    throw new McpError("invalid_definition", `\`cors.${name}\` is not a list`, { fix });
  }
  if (!Array.isArray(origins) || origins.includes("*")) return "*";
  return origins.map((origin: string) => checkedOrigin(origin, "cors.origins"));
}

/** Normalizes an origin from an option to the form that browsers send. Throws if the origin is invalid. */
function checkedOrigin(entry: string, option: string): string {
  let origin: string | undefined;
  try {
    const url = new URL(entry);
    // In the URL standard, extensions and app schemes have an opaque origin, but browsers send scheme and host. Such an
    // entry is used as it is.
    origin = url.origin === "null" ? entry : url.origin;
  } catch {
    // The check below throws the error.
  }
  if (origin === undefined || (origin !== entry && `${origin}/` !== entry)) {
    throw new McpError("invalid_definition", `${JSON.stringify(entry)} in \`${option}\` is not a valid origin`, {
      fix: 'Write scheme, host and port as browsers send them, for example "https://app.example.com".',
    });
  }
  return origin;
}

function isLoopbackOrigin(origin: string): boolean {
  const match = /^https?:\/\/(.+)$/.exec(origin);
  const authority = match?.[1] === undefined ? undefined : parseAuthority(match[1]);
  return authority !== undefined && isLoopbackName(authority.host);
}
