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

/** A server of this process, or what makes transports to one, in place of an address or a command. */
export type HostedHere = LocalServer | TransportMaker;

/** One server of a host: as a configuration has it, with a server of this process in it, or that server alone. */
export type HostEntry = HostedHere | HostServer | (HostServer & { readonly server: HostedHere });

/** When servers that end are started again. */
export interface HostRestarts {
  /** How many restarts of one server within which time are allowed before it is held. Default: 5 within 60 s. */
  intensity?: Partial<RestartIntensity> | undefined;
  /** The delay before a restart. Default: from 1 s to 30 s, 20 % more or less. */
  backOff?: Partial<RestartBackOff> | undefined;
  /** How long a server that failed too often is left alone before it is tried again. Default: 60,000. */
  retryMs?: number | undefined;
}

/** Options of a host. All are optional. */
export interface HostOptions {
  /** The servers by name. More can be added later. Default: none. */
  servers?: Readonly<Record<string, HostEntry>> | undefined;
  /** Options of every connection: what answers questions, deadlines, extensions, the client's name. Default: those of `connect`. */
  client?: Omit<ClientOptions, "signal" | "prior" | "auth"> | undefined;
  /** Gives the requests to a server their credentials. Default: none but the `headers` of the server. */
  auth?: ((server: string, url: string) => RequestAuthorization | undefined) | undefined;
  /** What servers are given that do not say it themselves. */
  defaults?:
    | Pick<HostServer, "startMs" | "callMs" | "concurrency" | "queue" | "perSecond" | "burst" | "trust">
    | undefined;
  /** Milliseconds that `start` waits for servers that are not required. Default: 5000; calls wait for their own server. */
  startWaitMs?: number | undefined;
  /** Milliseconds that a call waits for its server while it is started or restarted. Default: 10,000. */
  waitMs?: number | undefined;
  /** When servers are started again. */
  restarts?: HostRestarts | undefined;
  /** How servers are watched; `false` for not at all. */
  health?: HealthOptions | false | undefined;
  /** When calls of a server that fails are refused at once; `false` for never. */
  circuit?: CircuitOptions | false | undefined;
  /** How names of tools and prompts are written. */
  names?: OuterNameOptions | undefined;
  /** Changes or hides tools of all servers. */
  transform?: ToolTransform | undefined;
  /**
   * What was approved of servers, by their names here: `readLock(text)` of `@parley/mcp/lock`. What differs is left out of the
   * catalogue, and `status` says it. A server that is not in the file is used as it is, with a warning. Default: no lock.
   */
  locks?: LockFile | undefined;
  /** What becomes of things that `locks` does not have as they are. Default: `refuse`. */
  onDrift?: OnDrift | undefined;
  /** Keeps what servers listed, so that the next start knows it at once. Default: nothing is kept. */
  catalogue?: CatalogueStore | undefined;
  /**
   * Whether connections to servers declare elicitation, sampling and roots, because clients of a gateway may be asked. Default:
   * true if `asServer` is called before `start`.
   */
  forwardQuestions?: boolean | undefined;
  /** Called with every event of the host. */
  onEvent?: ((event: HostEvents["any"]) => void) | undefined;
  /** Replaces parts of the runtime, for tests. Default: the runtime's own. */
  platform?: Partial<Platform> | undefined;
}

/** Throws `invalid_definition` for options that do not exist. */
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
    if (ms !== undefined) checkNumber(name, ms, { least: 0, fractions: true });
  }
  if (catalogue !== undefined && (typeof catalogue.load !== "function" || typeof catalogue.save !== "function")) {
    throw new McpError("invalid_definition", "`catalogue` has no functions `load` and `save`", {
      fix: "Pass `catalogueFile(path)` of `@parley/mcp/node`, or an object with both functions.",
    });
  }
}

/** Connections that share the calls of one server; each may be a process. */
const MOST_CONNECTIONS = 100;

const CHOICES = {
  trust: ["trusted", "untrusted"],
  isolation: ["shared", "client"],
  transport: ["stdio", "http", "sse"],
};

function checkEntryValues(entry: HostServer, of: string): void {
  const { connections, startMs, callMs, prefix } = entry;
  for (const [name, ms] of Object.entries({ startMs, callMs })) {
    if (ms !== undefined) checkNumber(name, ms, { least: 1, fractions: true }, of);
  }
  if (connections !== undefined) checkNumber("connections", connections, { least: 1, most: MOST_CONNECTIONS }, of);
  for (const name of ["trust", "isolation", "transport"] as const) {
    const value = entry[name];
    if (value === undefined || CHOICES[name].includes(value)) continue;
    const choices = CHOICES[name].map((choice) => `"${choice}"`).join(", ");
    throw new McpError("invalid_definition", `\`${name}\`${of} is ${String(value)}`, { fix: `Use one of ${choices}.` });
  }
  if (prefix === undefined || prefix === false || typeof prefix === "string") return;
  throw new McpError("invalid_definition", `\`prefix\`${of} is ${String(prefix)}`, { fix: "Pass a text, or `false`." });
}

const ENTRY =
  "command args env inheritEnv cwd url headers transport maxMessageBytes disabled required trust startMs callMs tools connections concurrency queue perSecond burst prefix isolation server";

/** The entry of a server in one form. Throws `invalid_definition` for one that leads nowhere. */
export function checkedEntry(name: string, entry: HostEntry): HostServer & { readonly server?: HostedHere } {
  if (name === "") {
    throw new McpError("invalid_definition", "a server of the host has an empty name", { fix: "Give it a name." });
  }
  if (isHere(entry)) return { server: entry };
  checkOptions<HostServer & { server?: HostedHere }, typeof ENTRY>(`the server "${name}"`, entry, ENTRY);
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
    { fix: "Give it one of `command`, `url` and `server`." },
  );
}

function isHere(entry: HostEntry): entry is HostedHere {
  if (typeof entry !== "object" || entry === null) return false;
  return "endpoint" in entry || "makeTransport" in entry;
}

/** Whether the annotations of a server's tools may decide anything, such as whether a call is sent again or needs consent. */
export type Trust = "trusted" | "untrusted";

/** Which tools of a server are offered, by the names that the server gives them. `deny` wins. */
export interface ToolNames {
  /** Only these. Default: all. */
  readonly allow?: readonly string[] | undefined;
  /** None of these. Default: none. */
  readonly deny?: readonly string[] | undefined;
}

/** One server of a host, whatever application's file it was read from: a program to start or an address, and what the host makes of it. */
export interface HostServer {
  /** The program to start: a path, or a name that is looked up. Never a shell line. */
  readonly command?: string | undefined;
  /** The program's arguments, passed as they are. */
  readonly args?: readonly string[] | undefined;
  /** Variables for the program, beside the short list that every child gets. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Names of variables that the program inherits in addition, or `true` for the whole environment. Default: none. */
  readonly inheritEnv?: boolean | readonly string[] | undefined;
  /** The folder in which the program starts. Default: the current folder of this process. */
  readonly cwd?: string | undefined;
  /** The address of a server that runs already, in place of `command`. */
  readonly url?: string | undefined;
  /** Sent with every HTTP request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How the server is reached. Default: `stdio` for a `command`; for a `url` whatever the server answers to. */
  readonly transport?: "stdio" | "http" | "sse" | undefined;
  /** Longest message that is read, in bytes. Default: that of the host's connections. */
  readonly maxMessageBytes?: number | undefined;
  /** Kept in the list, but not started. Default: false. */
  readonly disabled?: boolean | undefined;
  /** Whether the host fails to start when this server does. Default: false, because one server should not stop the others. */
  readonly required?: boolean | undefined;
  /** Default: `untrusted`. */
  readonly trust?: Trust | undefined;
  /** Milliseconds for starting, the handshake and the first lists. Default: the host's. */
  readonly startMs?: number | undefined;
  /** Milliseconds for one call as a whole. Default: the host's. */
  readonly callMs?: number | undefined;
  /** Which tools are offered. Default: all. */
  readonly tools?: ToolNames | undefined;
  /** Connections that share the calls, where the server may be started more than once. Default: 1. */
  readonly connections?: number | undefined;
  /** Calls that run at once. Default: the host's. */
  readonly concurrency?: number | undefined;
  /** Calls that wait for a free place; further ones are refused. Default: the host's. */
  readonly queue?: number | undefined;
  /** Calls that begin in a second, on average. Default: no limit. */
  readonly perSecond?: number | undefined;
  /** Calls that may begin at once after a quiet time, with `perSecond`. Default: `perSecond`, rounded down, at least 1. */
  readonly burst?: number | undefined;
  /** What precedes the names of its tools and prompts in the catalogue; `false` for nothing. Default: the server's name. */
  readonly prefix?: string | false | undefined;
  /** Whether all clients of a gateway share the server, or each gets one of its own. Default: `shared`. */
  readonly isolation?: "shared" | "client" | undefined;
}
