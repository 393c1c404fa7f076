import type { ConnectionOptions } from "node:tls";
import { McpError } from "@parley/mcp";
import type { ConfiguredClient } from "./redis-client.js";
import { type SentinelSettings, sentinelSettings } from "./sentinel-route.js";

/** Connection settings and limits of `redisStorage`. Set exactly one of `url`, `nodes` and `client`. */
export interface RedisStorageOptions {
  /** URL of one server: `redis://`, or `rediss://` for TLS, followed by `user:password@host:port/database`. */
  readonly url?: string | undefined;
  /** URLs of some servers of a cluster. The client discovers the others. */
  readonly nodes?: readonly string[] | undefined;
  /**
   * A client of `createClient`, `createCluster` or `createSentinel`. The storage opens its own connections with the
   * same settings.
   */
  readonly client?: ConfiguredClient | undefined;
  /** User name (ACL). Default: the one in `url`, or the default user of Redis. */
  readonly username?: string | undefined;
  /** Password. Default: the one in `url`, if any. */
  readonly password?: string | undefined;
  /** `true`, or TLS options. Default: TLS if the URL starts with `rediss://`. */
  readonly tls?: boolean | ConnectionOptions | undefined;
  /** Prefix of every key and channel. Default: `parley:`. */
  readonly prefix?: string | undefined;
  /** Time after which a call rejects with a `StorageFailure`, in milliseconds. Default: 2,000. */
  readonly timeoutMs?: number | undefined;
  /** Maximum time of one connection attempt, in milliseconds. Default: 5,000. */
  readonly connectMs?: number | undefined;
  /** Maximum number of calls that wait for Redis. Further calls are rejected at once. Default: 10,000. */
  readonly maxPending?: number | undefined;
}

/** Validated options with defaults applied. */
export interface CheckedOptions {
  readonly servers: readonly ServerAddress[];
  readonly isCluster: boolean;
  /** Set if `client` was made by `createSentinel`. */
  readonly sentinel: SentinelSettings | undefined;
  readonly client: ConfiguredClient | undefined;
  readonly prefix: string;
  readonly timeoutMs: number;
  readonly connectMs: number;
  readonly maxPending: number;
}

/**
 * One server in the form that the client expects. URLs are parsed here, because the client would repeat them, with the
 * password, in errors.
 */
export interface ServerAddress {
  readonly socket: { readonly host: string; readonly port: number };
  readonly username?: string;
  readonly password?: string;
  readonly database?: number;
}

const OPTION_NAMES = "url nodes client username password tls prefix timeoutMs connectMs maxPending";

export function checkRedisOptions(options: RedisStorageOptions): CheckedOptions {
  if (typeof options !== "object" || options === null)
    refuse("the options must be an object", "Pass at least a `url`.");
  for (const name of Object.keys(options)) {
    if (!OPTION_NAMES.split(" ").includes(name))
      refuse(`"${name}" is not an option`, `Use one of: ${OPTION_NAMES.replaceAll(" ", ", ")}.`);
  }
  const { url, nodes, client } = options;
  if ([url, nodes, client].filter((one) => one !== undefined).length !== 1) {
    refuse(
      "exactly one of `url`, `nodes` and `client` is required",
      'Pass `url: "redis://127.0.0.1:6379"` for one server.',
    );
  }
  if (nodes !== undefined && (!Array.isArray(nodes) || nodes.length === 0)) {
    refuse("`nodes` is not a list of URLs", "Pass the URLs of some servers of the cluster.");
  }
  const isClient = typeof client?.duplicate === "function" && typeof client.sendCommand === "function";
  if (client !== undefined && !isClient) {
    refuse(
      "`client` is not a Redis client",
      "Pass the result of `createClient`, `createCluster` or `createSentinel` of `@redis/client`.",
    );
  }
  return {
    servers: (nodes ?? (url === undefined ? [] : [url])).map((one) => serverAddress(one, options)),
    isCluster: nodes !== undefined || (client !== undefined && "nodeClient" in client),
    sentinel: client !== undefined && "getMasterNode" in client ? checkedSentinel(client) : undefined,
    client,
    prefix: checkedPrefix(options.prefix ?? "parley:"),
    timeoutMs: positive("timeoutMs", options.timeoutMs ?? 2_000),
    connectMs: positive("connectMs", options.connectMs ?? 5_000),
    maxPending: positive("maxPending", options.maxPending ?? 10_000),
  };
}

function checkedSentinel(client: ConfiguredClient): SentinelSettings {
  return (
    sentinelSettings(client) ??
    refuse(
      "the settings of this Sentinel `client` cannot be read",
      "Use `createSentinel` of `@redis/client` 5 or later, or pass the `url` of an address that leads to the primary.",
    )
  );
}

function serverAddress(url: unknown, { username, password, tls }: RedisStorageOptions): ServerAddress {
  const isUrl = typeof url === "string" && URL.canParse(url) && !/%(?![0-9a-f]{2})/i.test(url);
  const parsed = isUrl ? new URL(url) : undefined;
  if (parsed === undefined || !/^rediss?:$/.test(parsed.protocol) || parsed.hostname === "") {
    return refuse("the URL is not a Redis URL", "Use redis://host:port, or rediss://host:port with TLS.");
  }
  const database = parsed.pathname.slice(1);
  if (!/^\d*$/.test(database))
    refuse("the path of the URL is not the number of a database", "Use a number as path, or leave it out.");
  const user = username ?? decodeURIComponent(parsed.username);
  const secret = password ?? decodeURIComponent(parsed.password);
  const secure = typeof tls === "object" ? { ...tls, tls: true } : { tls: tls ?? parsed.protocol === "rediss:" };
  const place = { host: parsed.hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(parsed.port || 6379) };
  return {
    socket: { ...(secure.tls ? secure : {}), ...place },
    ...(user === "" ? {} : { username: user }),
    ...(secret === "" ? {} : { password: secret }),
    ...(database === "" ? {} : { database: Number(database) }),
  };
}

function checkedPrefix(prefix: string): string {
  if (typeof prefix === "string" && !/[{}]/.test(prefix)) return prefix;
  return refuse(
    "`prefix` must be a string without braces",
    "Remove the braces: in a cluster they decide which keys belong together.",
  );
}

function positive(name: string, value: number): number {
  if (Number.isFinite(value) && value >= 1) return value;
  return refuse(`\`${name}\` is ${value}, not a positive number`, `Leave \`${name}\` out for its default.`);
}

function refuse(what: string, fix: string): never {
  throw new McpError("invalid_definition", `redisStorage: ${what}`, { fix });
}
