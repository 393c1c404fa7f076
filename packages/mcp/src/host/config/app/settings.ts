import type { ClientOptions } from "../../../client/contract/options.js";
import { LOG_LEVELS } from "../../../protocol/logging.js";
import type { ServerOptions } from "../../../server/contract/options.js";
import type { ServeStreamOptions } from "../../../transport/channel/stream-server.js";
import type { HttpServerOptions } from "../../../transport/http/server/options.js";
import type { HostOptions } from "../../options.js";

/** True for types whose values a file or a variable can hold: no functions, no lists of objects, nothing with either inside. */
type IsData<V> = V extends string | number | boolean
  ? true
  : V extends (...args: never[]) => unknown
    ? false
    : V extends readonly (infer Item)[]
      ? [Item] extends [string]
        ? true
        : false
      : V extends object
        ? false extends { [K in keyof V]-?: IsData<Exclude<V[K], undefined>> }[keyof V]
          ? false
          : true
        : false;

/** The names of the options that a file or a variable can set. */
type DataKeys<T> = {
  [K in keyof T]-?: [IsData<Exclude<T[K], undefined>>] extends [true] ? K : never;
}[keyof T];

/** The options of `T` that a file or a variable can set. */
export type Settings<T> = { [K in DataKeys<T>]?: T[K] | undefined };

/** What a setting holds, as its option's type has it: the compiler refuses another. */
type SettingFor<V> = [V] extends [boolean]
  ? "flag"
  : [V] extends [boolean | "auto"]
    ? "flag or auto"
    : [V] extends [number]
      ? "count" | "whole" | "number"
      : [V] extends [string]
        ? string extends V
          ? "text"
          : readonly V[]
        : [V] extends [readonly string[]]
          ? "texts"
          : [V] extends [string | readonly string[]]
            ? "text or texts"
            : [V] extends [string | false]
              ? "text or false"
              : false extends V
                ? readonly [false, GroupFor<Exclude<V, false>>]
                : string extends keyof V
                  ? "text map"
                  : GroupFor<V>;

type GroupFor<V> = { readonly [K in keyof V]-?: SettingFor<Exclude<V[K], undefined>> };

/** Settings by name. */
export interface SettingGroup {
  readonly [name: string]: Setting;
}

/** What a setting holds. `count` is above 0, `whole` and `number` may be 0; a group with `false` before it may be turned off. */
export type Setting =
  | "flag"
  | "flag or auto"
  | "count"
  | "whole"
  | "number"
  | "text"
  | "texts"
  | "text or texts"
  | "text or false"
  | "text map"
  | readonly string[]
  | readonly [false, SettingGroup]
  | SettingGroup;

/** A setting for each option that can have one; an option that is added is missing here until it is written down. */
export type SettingsTable<T> = { readonly [K in DataKeys<T>]: SettingFor<Exclude<T[K], undefined>> };

/** How an HTTP server of Node listens; its other options are those of every HTTP server. */
interface Listening {
  port?: number | undefined;
  host?: string | undefined;
  path?: string | undefined;
  healthPath?: string | false | undefined;
  metricsPath?: string | undefined;
  drainDelayMs?: number | undefined;
  maxConnections?: number | undefined;
  headersTimeoutMs?: number | undefined;
  requestTimeoutMs?: number | undefined;
  keepAliveTimeoutMs?: number | undefined;
}

/** How a process serves its parent; its other options are those of every stream. */
interface ProcessServing {
  exit?: boolean | undefined;
  guardStdout?: boolean | undefined;
  watchParent?: boolean | undefined;
}

/** Settings for serving over HTTP. */
export type HttpSettings = Settings<HttpServerOptions & Listening>;
/** Settings for serving over stdio. */
export type StdioSettings = Settings<
  Omit<ServeStreamOptions, "platform" | "decode" | "framing" | "network"> & ProcessServing
>;

const HINT = { ttlMs: "whole", scope: ["public", "private"] } as const;

const SERVER: SettingsTable<ServerOptions> = {
  instructions: "text",
  revisions: "texts",
  secret: "text or texts",
  limits: {
    answerMs: "count",
    stateBytes: "count",
    rounds: "count",
    questions: "count",
    clientLength: "count",
    subscriptions: "count",
    subscriptionLength: "count",
    totalSubscriptionLength: "count",
    listensPerPeer: "count",
    listens: "count",
    calls: "count",
    callsPerPrincipal: "count",
    queuedCalls: "count",
  },
  pageSize: "count",
  cache: {
    ...HINT,
    discover: HINT,
    tools: HINT,
    prompts: HINT,
    resources: HINT,
    resourceTemplates: HINT,
    read: HINT,
  },
  declare: "texts",
  listChanged: "flag",
  subscribe: "flag",
  maskErrors: "flag",
  invalidArguments: ["result", "protocol"],
  earlyRequests: ["serve", "refuse"],
  tools: {
    coerce: "flag",
    unknownArguments: ["report", "ignore"],
    timeoutMs: "count",
    maxResultBytes: "count",
    overflow: ["truncate", "link"],
  },
  logging: "flag",
};

const CLIENT: SettingsTable<ClientOptions> = {
  name: "text",
  version: "text",
  title: "text",
  description: "text",
  websiteUrl: "text",
  revisions: "texts",
  timeouts: { connectMs: "count", idleMs: "count", totalMs: "count", answerMs: "count" },
  elicitUrls: "flag",
  sampleTools: "flag",
  logLevel: LOG_LEVELS,
  strict: "flag",
  checkOutput: "flag",
  resend: ["idempotent", "always", "never"],
  maxRounds: "count",
  maxQuestions: "count",
  maxMessageBytes: "count",
  headers: "text map",
};

const HTTP: SettingsTable<HttpServerOptions & Listening> = {
  port: "whole",
  host: "text",
  path: "text",
  healthPath: "text or false",
  livePath: "text or false",
  readyPath: "text or false",
  metricsPath: "text",
  drainDelayMs: "whole",
  maxConnections: "count",
  headersTimeoutMs: "count",
  requestTimeoutMs: "count",
  keepAliveTimeoutMs: "count",
  authenticateMs: "count",
  allowUnauthenticated: "flag",
  publicUrl: "text",
  allowedHosts: "texts",
  allowedOrigins: "texts",
  cors: { origins: "text or texts", credentials: "flag", headers: "texts", maxAgeMs: "whole" },
  sessions: "flag or auto",
  legacySse: { path: "text", messagesPath: "text" },
  limits: {
    maxMessageBytes: "count",
    maxUnfinishedBytes: "count",
    maxBatchItems: "count",
    maxInFlight: "count",
    maxInFlightPerPrincipal: "count",
    maxStreams: "count",
    maxStreamsPerPrincipal: "count",
    maxQueuedBytes: "count",
    maxUnsentBytes: "count",
    maxSessions: "count",
    maxSessionsPerPrincipal: "count",
    maxStreamsPerSession: "count",
    maxInFlightPerSession: "count",
  },
  times: {
    streamAfterMs: "whole",
    keepAliveMs: "count",
    sessionIdleMs: "count",
    handshakeMs: "count",
    eventAgeMs: "count",
    nodeLostMs: "count",
  },
  eventLog: {
    maxEvents: "count",
    maxBytes: "count",
    maxBytesPerSession: "count",
    maxBytesPerPrincipal: "count",
    maxEndedStreams: "count",
    maxUnreadLength: "count",
    maxUnreadLengthPerPrincipal: "count",
    maxAnswersLength: "count",
    maxAnswersLengthPerPrincipal: "count",
  },
};

const STDIO: SettingsTable<Omit<ServeStreamOptions, "platform" | "decode" | "framing" | "network"> & ProcessServing> = {
  exit: "flag",
  guardStdout: "flag",
  watchParent: "flag",
  remote: "flag",
  maxInFlight: "count",
  maxFaults: "count",
  maxMessageBytes: "count",
  maxQueuedMessages: "count",
  maxQueuedBytes: "count",
  holdInputAbove: "count",
  drainMs: "whole",
};

const HOST: SettingsTable<HostOptions> = {
  defaults: {
    startMs: "count",
    callMs: "count",
    concurrency: "count",
    queue: "count",
    perSecond: "number",
    burst: "count",
    trust: ["trusted", "untrusted"],
  },
  startWaitMs: "whole",
  waitMs: "whole",
  restarts: {
    intensity: { restarts: "whole", withinMs: "count" },
    backOff: { firstMs: "whole", longestMs: "whole", jitter: "number" },
    retryMs: "count",
  },
  health: [false, { intervalMs: "count", deadlineMs: "count", failures: "count" }],
  circuit: [
    false,
    {
      failures: "count",
      failureRate: "number",
      window: "count",
      openMs: "count",
      trials: "count",
      successes: "count",
    },
  ],
  names: { maxLength: "count" },
  forwardQuestions: "flag",
};

/** Everything that a file or the environment can set, by section. */
export const SETTINGS = { server: SERVER, client: CLIENT, http: HTTP, stdio: STDIO, host: HOST } as const;
