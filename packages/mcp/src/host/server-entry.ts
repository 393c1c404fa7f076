import { Answerer } from "../client/answers/answerer.js";
import type { LocalServer, Target } from "../client/connect.js";
import { ClientExtensions } from "../client/contract/extension.js";
import type { ClientOptions } from "../client/contract/options.js";
import type { Question } from "../era/era.js";
import { DriftPolicy } from "../lock/drift-policy.js";
import { onAbort } from "../platform/on-abort.js";
import type { Platform } from "../platform/platform.js";
import type { ClientCapabilities } from "../protocol/capabilities.js";
import { McpError } from "../protocol/error.js";
import { serverKey } from "./catalogue/catalogue-store.js";
import type { CallerChannel } from "./connection/remote-connection.js";
import type { HostedServerConfig } from "./hosted-server.js";
import type { HostedHere, HostOptions, HostServer } from "./options.js";

/** Every question that some caller may answer. Connections that all callers share declare these capabilities. */
const ANY_QUESTION: ClientCapabilities = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

const START_MS = 30_000;
const WAIT_MS = 10_000;

/**
 * Merges the entry of a server with the defaults of the host and of the library. `forwards` returns true if clients of
 * a gateway can answer questions.
 */
export function resolveServerEntry(
  name: string,
  entry: HostServer & { readonly server?: HostedHere },
  host: HostOptions,
  platform: Platform,
  forwards: () => boolean,
): HostedServerConfig {
  const { client = {}, defaults = {}, health = {}, circuit = {}, transform, waitMs = WAIT_MS } = host;
  const given = { ...defaults, ...entry };
  const { tools, prefix = name, isolation = "shared", required = false, connections = 1 } = entry;
  const { startMs = START_MS, callMs, concurrency, queue, perSecond, burst, trust = "untrusted" } = given;
  warnIgnoredFields(name, entry, perSecond !== undefined, platform);
  const options = connectOptions(name, entry, host, startMs, platform);
  const startsProcess = entry.command !== undefined;
  const rate = perSecond === undefined ? {} : { rate: { perSecond, ...(burst === undefined ? {} : { burst }) } };
  const lock = driftPolicyOf(name, host, platform);
  const identity = [entry.command, entry.args, entry.cwd, entry.url, entry.tools, lock?.lock];
  return {
    name,
    target: targetOf(entry),
    options,
    platform: platform,
    limits: {
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(queue === undefined ? {} : { queue }),
      ...rate,
    },
    startsProcess,
    isolation,
    // Evaluated for each connection, because `asServer` may be called after the server was added. Servers of this
    // process do not get the declaration. Other servers need it, because they may choose the tools that they list by
    // the declared capabilities.
    get askable() {
      return forwards() && entry.server === undefined ? ANY_QUESTION : undefined;
    },
    application: applicationCall(name, client, platform),
    waitMs,
    circuit,
    lock,
    filter: { ...tools, ...(transform === undefined ? {} : { transform }) },
    health,
    trusted: trust === "trusted",
    size: connections,
    callMs,
    startMs,
    required,
    prefix,
    key: serverKey(platform, identity),
  };
}

/** The lock of a server; undefined if none is configured for it. Warns if `locks` lacks the server. */
function driftPolicyOf(name: string, { locks, onDrift }: HostOptions, platform: Platform): DriftPolicy | undefined {
  if (locks === undefined) return undefined;
  const pinned = Object.hasOwn(locks.servers, name) ? locks.servers[name] : undefined;
  if (pinned !== undefined) return new DriftPolicy(pinned, onDrift);
  platform.warn(`\`locks\` has no server "${name}", so that its offers are not checked; pin them with \`parley lock\``);
  return undefined;
}

function connectOptions(
  name: string,
  entry: HostServer,
  host: HostOptions,
  startMs: number,
  { warn }: Platform,
): ClientOptions {
  const { client = {}, auth, platform } = host;
  const { url, headers, maxMessageBytes } = entry;
  const authorization = url === undefined || auth === undefined ? undefined : authorizationOf(auth, name, url);
  return {
    ...client,
    onWarning: (message) => (client.onWarning ?? warn)(`the server "${name}": ${message}`),
    timeouts: { ...client.timeouts, connectMs: startMs },
    ...(authorization === undefined ? {} : { auth: authorization }),
    ...(headers === undefined ? {} : { headers: { ...client.headers, ...headers } }),
    ...(maxMessageBytes === undefined ? {} : { maxMessageBytes }),
    ...(platform === undefined ? {} : { platform }),
  };
}

function targetOf({
  server,
  url,
  transport,
  command,
  args,
  env,
  cwd,
  inheritEnv,
}: HostServer & { server?: HostedHere }): Target | LocalServer {
  if (server !== undefined) return server;
  if (url !== undefined && (transport === "http" || transport === "sse")) return { url, transport };
  if (url !== undefined) return url;
  return { command: command ?? "", args, env, cwd, inheritEnv };
}

/** Warns about fields without effect. The warning has only their names, because their values may be secrets. */
function warnIgnoredFields(
  name: string,
  entry: HostServer & { readonly server?: HostedHere },
  limited: boolean,
  platform: Platform,
): void {
  const useless: (keyof HostServer)[] = limited ? [] : ["burst"];
  if (entry.command === undefined) useless.push("args", "env", "inheritEnv", "cwd");
  if (entry.url === undefined) useless.push("headers");
  if (entry.server !== undefined) useless.push("transport", "maxMessageBytes");
  const found = useless.filter((field) => !isEmpty(entry[field])).map((field) => `\`${field}\``);
  if (found.length === 0) return;
  platform.warn(`${found.join(" and ")} of the server "${name}" ${found.length === 1 ? "has" : "have"} no effect`);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}

function authorizationOf(auth: NonNullable<HostOptions["auth"]>, name: string, url: string): ClientOptions["auth"] {
  const fix = "Return the result of `oauth(…)` or `bearerToken(…)` of `@parley/mcp/auth`, or undefined.";
  let given: ClientOptions["auth"];
  try {
    given = auth(name, url);
  } catch (error) {
    throw new McpError("invalid_definition", `\`auth\` failed for the server "${name}"`, { cause: error, fix });
  }
  if (given === undefined || typeof given.authorize === "function") return given;
  Promise.resolve(given).catch(() => {});
  throw new McpError("invalid_definition", `\`auth\` returned no authorization for the server "${name}"`, { fix });
}

/** The caller of all calls that the application makes itself. */
export const APPLICATION = "the application";

/**
 * Answers the questions of a server with the application's own handlers, over a connection that clients of a gateway
 * share.
 */
function applicationCall(server: string, options: ClientOptions, platform: Platform): CallerChannel {
  const answerer = new Answerer(options, platform, new ClientExtensions());
  return {
    caller: APPLICATION,
    async ask(question, signal) {
      if (!answerer.canAnswer(question.method)) return defaultAnswer(question);
      answerer.check(question);
      const unwanted = new AbortController();
      const remove = onAbort(signal, () => unwanted.abort(signal.reason));
      try {
        return await answerer.answer(question, { asker: { name: server, version: "" } }, unwanted);
      } finally {
        remove();
      }
    },
    // The connection itself passes its log messages to `onLog`.
    log() {},
  };
}

/**
 * Answers a question for which the application has no handler. Such a question can arrive, because the connection
 * declares capabilities on behalf of the clients of a gateway.
 */
function defaultAnswer({ method }: Question): object {
  if (method === "roots/list") return { roots: [] };
  if (method === "elicitation/create") return { action: "cancel" };
  throw new McpError("declined", `the application has no handler for ${method}`);
}
