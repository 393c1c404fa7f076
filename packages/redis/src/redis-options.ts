import type { ConnectionOptions } from "node:tls";
import { McpError } from "@parley/mcp";
import type { ConfiguredClient } from "./redis-client.js";
import { type SentinelSettings, sentinelSettings } from "./sentinel-route.js";

/** Which Redis, and how long to wait for it. Give one of `url`, `nodes` and `client`. */
export interface RedisStorageOptions {
  /** One server: `redis://` or, with TLS, `rediss://`, then `user:password@host:port/database`. */
  readonly url?: string | undefined;
  /** Some servers of a cluster, as URLs; the others are found. */
  readonly nodes?: readonly string[] | undefined;
  /** A client of `createClient`, `createCluster` or `createSentinel`, whose settings are used for connections of the storage's own. */
  readonly client?: ConfiguredClient | undefined;
  /** The user of the connection (ACL). Default: the one in `url`, or Redis' default user. */
  readonly username?: string | undefined;
  /** The password of the connection. Default: the one in `url`, if any. */
  readonly password?: string | undefined;
  /** `true`, or the settings of TLS; also follows from `rediss://`. */
  readonly tls?: boolean | ConnectionOptions | undefined;
  /** Begins every key and channel. Default `parley:`. */
  readonly prefix?: string | undefined;
  /** After this every call ends with a `StorageFailure`. Default 2,000. */
  readonly timeoutMs?: number | undefined;
  /** How long one attempt to connect may take. Default 5,000. */
  readonly connectMs?: number | undefined;
  /** Calls that may wait for Redis at a time; more are refused at once. Default 10,000. */
  readonly maxPending?: number | undefined;
}

/** Options that were checked, with their defaults. */
export interface CheckedOptions {
  readonly servers: readonly ServerAddress[];
  readonly isCluster: boolean;
  /** Set if `client` is one of `createSentinel`. */
  readonly sentinel: SentinelSettings | undefined;
  readonly client: ConfiguredClient | undefined;
  readonly prefix: string;
  readonly timeoutMs: number;
  readonly connectMs: number;
  readonly maxPending: number;
}

/** One server in the words of the client: its URLs are taken apart here, because it repeats them in errors. */
export interface ServerAddress {
  readonly socket: { readonly host: string; readonly port: number };
  readonly username?: string;
  readonly password?: string;
  readonly database?: number;
}

const NAMES = "url nodes client username password tls prefix timeoutMs connectMs maxPending";

export function checkRedisOptions(options: RedisStorageOptions): CheckedOptions {
  if (typeof options !== "object" || options === null) refuse("the options are no object", "Give at least a `url`.");
  for (const name of Object.keys(options)) {
    if (!NAMES.split(" ").includes(name))
      refuse(`"${name}" is no option`, `Use one of: ${NAMES.replaceAll(" ", ", ")}.`);
  }
  const { url, nodes, client } = options;
  if ([url, nodes, client].filter((one) => one !== undefined).length !== 1) {
    refuse(
      "it needs exactly one of `url`, `nodes` and `client`",
      'Give `url: "redis://127.0.0.1:6379"` for one server.',
    );
  }
  if (nodes !== undefined && (!Array.isArray(nodes) || nodes.length === 0)) {
    refuse("`nodes` is no list of URLs", "Give the URLs of some servers of the cluster.");
  }
  const isClient = typeof client?.duplicate === "function" && typeof client.sendCommand === "function";
  if (client !== undefined && !isClient) {
    refuse(
      "`client` is no client of Redis",
      "Give what `createClient`, `createCluster` or `createSentinel` of `@redis/client` returns.",
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
      "`client` is one of Sentinel that does not give its settings",
      "Use `createSentinel` of `@redis/client` 5 or later, or give the `url` of an address that leads to the primary.",
    )
  );
}

function serverAddress(url: unknown, { username, password, tls }: RedisStorageOptions): ServerAddress {
  const isUrl = typeof url === "string" && URL.canParse(url) && !/%(?![0-9a-f]{2})/i.test(url);
  const parsed = isUrl ? new URL(url) : undefined;
  if (parsed === undefined || !/^rediss?:$/.test(parsed.protocol) || parsed.hostname === "") {
    return refuse("a URL of it is not one of Redis", "Write it as redis://host:port, or rediss://host:port with TLS.");
  }
  const database = parsed.pathname.slice(1);
  if (!/^\d*$/.test(database))
    refuse("the path of its URL is no number", "Write the number of the database, or nothing.");
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
    "`prefix` is no text without braces",
    "Braces say which keys of a cluster belong together; leave them out.",
  );
}

function positive(name: string, value: number): number {
  if (Number.isFinite(value) && value >= 1) return value;
  return refuse(`\`${name}\` is ${value}, not a positive number`, `Leave \`${name}\` out for its default.`);
}

function refuse(what: string, fix: string): never {
  throw new McpError("invalid_definition", `redisStorage: ${what}`, { fix });
}
