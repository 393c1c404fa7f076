import type { LocalServer, TransportMaker } from "../client/connect.js";
import type { ClientOptions } from "../client/contract/options.js";
import type { RequestAuthorization } from "../http/request-authorization.js";
import type { OnDrift } from "../lock/drift-policy.js";
import { readLock } from "../lock/lock-file.js";
import type { LockFile } from "../lock/server-lock.js";
import type { Platform } from "../platform/platform.js";
import { checkOptions } from "../protocol/check-options.js";
import { McpError } from "../protocol/error.js";
import type { CatalogueStore } from "./catalogue/catalogue-store.js";
import type { OuterNameOptions } from "./catalogue/outer-names.js";
import type { ToolTransform } from "./catalogue/tool-filter.js";
import { checkNumber } from "./connection/check-number.js";
import type { CircuitOptions } from "./connection/circuit-breaker.js";
import type { HealthOptions } from "./connection/health-check.js";
import type { HostEvents } from "./host-events.js";
import type { RestartBackOff, RestartIntensity } from "./supervision/supervisor-options.js";

/** A server in this process, or a factory of transports to a server. Takes the place of an address or a command. */
export type HostedHere = LocalServer | TransportMaker;

/**
 * One server of a host: an entry as in a configuration file, an entry with a server of this process, or only a server
 * of this process.
 */
export type HostEntry =
  | HostedHere
  | HostServer
  | (HostServer & {
      /** The server of this process, in place of `command` or `url`. */
      readonly server: HostedHere;
    });

/** Rules for restarting servers that ended. */
export interface HostRestarts {
  /**
   * Maximum number of restarts of one server within a period. Beyond it, the host stops restarting the server for
   * `retryMs`. Default: 5 within 60 s.
   */
  intensity?: Partial<RestartIntensity> | undefined;
  /** The delay before a restart. Default: from 1 s to 30 s, plus or minus 20 %. */
  backOff?: Partial<RestartBackOff> | undefined;
  /** Milliseconds before the host retries a server that failed too often. Default: 60,000. */
  retryMs?: number | undefined;
}

/** Options of a host. All are optional. */
export interface HostOptions {
  /** The servers by name. `add` adds more later. Default: none. */
  servers?: Readonly<Record<string, HostEntry>> | undefined;
  /**
   * Options of every connection: handlers for elicitation, sampling and roots, timeouts, extensions, the client's name.
   * Default: those of `connect`.
   */
  client?: Omit<ClientOptions, "signal" | "prior" | "auth"> | undefined;
  /**
   * Returns the authorization for the requests to a server with a `url`. Default: none, only the `headers` of the
   * server.
   */
  auth?: ((server: string, url: string) => RequestAuthorization | undefined) | undefined;
  /** Default settings for all servers. The entry of a server overrides them. */
  defaults?:
    | Pick<HostServer, "startMs" | "callMs" | "concurrency" | "queue" | "perSecond" | "burst" | "trust">
    | undefined;
  /**
   * Milliseconds that `start` waits for servers that are not required. Default: 5000. A longer wait is seldom needed,
   * because each call waits for its own server.
   */
  startWaitMs?: number | undefined;
  /** Milliseconds that a call waits for its server to start or restart. Default: 10,000. */
  waitMs?: number | undefined;
  /** Rules for restarting servers. Default: at most 5 restarts within 60 s, 1 s to 30 s apart. */
  restarts?: HostRestarts | undefined;
  /** Health checks of connections; `false` for none. Default: a ping after 30 s without an answer. */
  health?: HealthOptions | false | undefined;
  /**
   * Circuit breaker, which rejects calls to a failing server at once; `false` for none. Default: opens after 5 failures
   * in a row, or if half of 10 calls fail.
   */
  circuit?: CircuitOptions | false | undefined;
  /** Format of the names of tools and prompts. */
  names?: OuterNameOptions | undefined;
  /** Changes or hides tools of all servers. Default: tools stay as they are. */
  transform?: ToolTransform | undefined;
  /**
   * The approved offers of servers, by their names in this host: `readLock(text)` of `@parley/mcp/lock`. Offers that
   * differ are left out of the catalogue and appear in `drift` of `status`. A server without an entry in the lock is
   * used as it is, with a warning. Default: no lock.
   */
  locks?: LockFile | undefined;
  /** Treatment of offers that differ from `locks`. Default: `refuse`. */
  onDrift?: OnDrift | undefined;
  /**
   * Stores the lists of servers, so that they are available immediately after the next start. Default: nothing is
   * stored.
   */
  catalogue?: CatalogueStore | undefined;
  /**
   * True if connections to servers declare elicitation, sampling and roots, because clients of a gateway can answer
   * such questions. Default: true if `asServer` is called before `start`.
   */
  forwardQuestions?: boolean | undefined;
  /** Called with every event of the host. */
  onEvent?: ((event: HostEvents["any"]) => void) | undefined;
  /** Replaces parts of the runtime, for tests. Default: the runtime's own. */
  platform?: Partial<Platform> | undefined;
}

/** Throws `invalid_definition` for unknown options and for values out of range. */
export function checkHostOptions(options: HostOptions): void {
  checkOptions(
    "the host",
    options,
    "servers client auth defaults startWaitMs waitMs restarts health circuit names transform locks onDrift catalogue forwardQuestions onEvent platform",
  );
  checkOptions("`restarts`", options.restarts, "intensity backOff retryMs");
  checkOptions("`defaults`", options.defaults, "startMs callMs concurrency queue perSecond burst trust");
  checkEntryValues(options.defaults ?? {}, " of `defaults`");
  const { servers, startWaitMs, waitMs, restarts, catalogue, locks } = options;
  if (servers !== undefined && (typeof servers !== "object" || servers === null || Array.isArray(servers))) {
    const given = Array.isArray(servers) ? "an array" : String(servers);
    throw new McpError(
      "invalid_definition",
      `\`servers\` of the host is ${given}, not an object with a name for each server`,
      {
        fix: "Pass `{ name: entry, … }`; `readServers` of `@parley/mcp/config` reads such an object from the file of an application.",
      },
    );
  }
  if (locks !== undefined) readLock(locks);
  for (const [name, ms] of Object.entries({ startWaitMs, waitMs, retryMs: restarts?.retryMs })) {
    if (ms !== undefined) checkNumber(name, ms, { min: 0, fractions: true });
  }
  if (catalogue !== undefined && (typeof catalogue.load !== "function" || typeof catalogue.save !== "function")) {
    throw new McpError("invalid_definition", "`catalogue` has no functions `load` and `save`", {
      fix: "Pass `catalogueFile(path)` of `@parley/mcp/node`, or an object with both functions.",
    });
  }
}

/** Maximum number of connections that share the calls to one server. Each may be a process. */
const MAX_CONNECTIONS = 100;

const CHOICES = {
  trust: ["trusted", "untrusted"],
  isolation: ["shared", "client"],
  transport: ["stdio", "http", "sse"],
};

function checkEntryValues(entry: HostServer, of: string): void {
  const { connections, startMs, callMs, prefix } = entry;
  for (const [name, ms] of Object.entries({ startMs, callMs })) {
    if (ms !== undefined) checkNumber(name, ms, { min: 1, fractions: true }, of);
  }
  if (connections !== undefined) checkNumber("connections", connections, { min: 1, max: MAX_CONNECTIONS }, of);
  for (const name of ["trust", "isolation", "transport"] as const) {
    const value = entry[name];
    if (value === undefined || CHOICES[name].includes(value)) continue;
    const choices = CHOICES[name].map((choice) => `"${choice}"`).join(", ");
    throw new McpError("invalid_definition", `\`${name}\`${of} is ${String(value)}`, { fix: `Use one of ${choices}.` });
  }
  if (prefix === undefined || prefix === false || typeof prefix === "string") return;
  throw new McpError("invalid_definition", `\`prefix\`${of} is ${String(prefix)}`, {
    fix: "Pass a string, or `false`.",
  });
}

const ENTRY_OPTIONS =
  "command args env inheritEnv cwd url headers transport maxMessageBytes disabled required trust startMs callMs tools connections concurrency queue perSecond burst prefix isolation server";

/** Checks the entry of a server and normalizes it to one form. Throws `invalid_definition` for an invalid entry. */
export function checkedEntry(name: string, entry: HostEntry): HostServer & { readonly server?: HostedHere } {
  if (name === "") {
    throw new McpError("invalid_definition", "a server of the host has an empty name", { fix: "Give it a name." });
  }
  if (isHere(entry)) return { server: entry };
  checkOptions<HostServer & { server?: HostedHere }, typeof ENTRY_OPTIONS>(
    `the server "${name}"`,
    entry,
    ENTRY_OPTIONS,
  );
  if (entry.disabled === true) return entry;
  checkEntryValues(entry, ` of the server "${name}"`);
  const given: HostServer & { server?: HostedHere } = entry;
  const ways = (["command", "url", "server"] as const).filter((way) => given[way] !== undefined);
  if (ways.length === 1) return entry;
  throw new McpError(
    "invalid_definition",
    ways.length === 0
      ? `the server "${name}" has neither a command nor an address`
      : `the server "${name}" has ${ways.map((way) => `\`${way}\``).join(" and ")}`,
    { fix: "Set exactly one of `command`, `url` and `server`." },
  );
}

function isHere(entry: HostEntry): entry is HostedHere {
  if (typeof entry !== "object" || entry === null) return false;
  return "endpoint" in entry || "makeTransport" in entry;
}

/**
 * `trusted` if the host may rely on the annotations of a server's tools, for example when it decides whether to resend
 * a call or to ask for consent.
 */
export type Trust = "trusted" | "untrusted";

/** Selects tools of a server by the names that the server uses. `deny` wins. */
export interface ToolNames {
  /** Offers only these tools. `*` matches any characters. Default: all. */
  readonly allow?: readonly string[] | undefined;
  /** Hides these tools. `*` matches any characters. Default: none. */
  readonly deny?: readonly string[] | undefined;
}

/**
 * One server of a host, independent of the file format it was read from: a program to start or an address, and settings
 * of the host.
 */
export interface HostServer {
  /** The program to start: a path, or a name to look up in `PATH`. Never a shell line. */
  readonly command?: string | undefined;
  /** The arguments of the program, passed without a shell. */
  readonly args?: readonly string[] | undefined;
  /** Environment variables of the program, in addition to the short list that every child process gets. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Names of further environment variables that the program inherits, or `true` for all of them. Default: none. */
  readonly inheritEnv?: boolean | readonly string[] | undefined;
  /** The working directory of the program. Default: that of this process. */
  readonly cwd?: string | undefined;
  /** The address of a running server, in place of `command`. */
  readonly url?: string | undefined;
  /** Headers of every HTTP request, in addition to those of `client`. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The transport. Default: `stdio` for a `command`; for a `url` the one that the server supports. */
  readonly transport?: "stdio" | "http" | "sse" | undefined;
  /** Maximum length of a received message, in bytes. Default: that of the host's connections. */
  readonly maxMessageBytes?: number | undefined;
  /** True if the server appears in `status` but is not started. Default: false. */
  readonly disabled?: boolean | undefined;
  /**
   * True if the host must not start without this server. Default: false, because one server should not stop the others.
   */
  readonly required?: boolean | undefined;
  /** Trust in the annotations of the server's tools. Default: `untrusted`. */
  readonly trust?: Trust | undefined;
  /** Milliseconds for the start, the handshake and the first lists. Default: that of `defaults`, or else 30,000. */
  readonly startMs?: number | undefined;
  /** Milliseconds for one call as a whole. Default: that of `defaults`, or else that of the client. */
  readonly callMs?: number | undefined;
  /** The tools to offer. Default: all. */
  readonly tools?: ToolNames | undefined;
  /**
   * Number of connections that share the calls, for servers that may be started more than once. 1 to 100. Default: 1.
   */
  readonly connections?: number | undefined;
  /** Maximum number of calls that run at the same time. Default: that of `defaults`, or else no limit. */
  readonly concurrency?: number | undefined;
  /**
   * Maximum number of calls that wait for a free slot; the host rejects further calls. Default: that of `defaults`, or
   * else 1,000.
   */
  readonly queue?: number | undefined;
  /** Maximum average number of calls that start per second. Default: that of `defaults`, or else no limit. */
  readonly perSecond?: number | undefined;
  /**
   * Maximum number of calls that may start at the same time after a pause, with `perSecond`. Default: that of
   * `defaults`, or else `perSecond`, rounded down, at least 1.
   */
  readonly burst?: number | undefined;
  /**
   * Text before the names of the server's tools and prompts in the catalogue; `false` for none. Default: the server's
   * name.
   */
  readonly prefix?: string | false | undefined;
  /**
   * `shared` if all clients of a gateway share the server's connections, `client` if each gets its own. Default:
   * `shared`.
   */
  readonly isolation?: "shared" | "client" | undefined;
}
