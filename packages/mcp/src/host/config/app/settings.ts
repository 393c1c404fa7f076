import type { ClientOptions } from "../../../client/contract/options.js";
import { LOG_LEVELS } from "../../../protocol/logging.js";
import type { ServerOptions } from "../../../server/contract/options.js";
import type { ServeStreamOptions } from "../../../transport/channel/stream-server.js";
import type { HttpServerOptions } from "../../../transport/http/server/options.js";
import type { HostOptions } from "../../options.js";
import { isRecord } from "../config-dialect.js";

/**
 * True for types whose values a file or a variable can hold: no functions, no arrays of objects, and no object that
 * contains either.
 */
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

/** The kind of setting that matches the type of an option. The compiler rejects tables with another kind. */
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

/**
 * The kind of a setting. `count` is above 0; `whole` and `number` may be 0. A group with `false` before it can be
 * turned off.
 */
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

/** The kind of every option that a file or a variable can set. The compiler reports options that the table lacks. */
export type SettingsTable<T> = { readonly [K in DataKeys<T>]: SettingFor<Exclude<T[K], undefined>> };

/** Options of an HTTP server on Node, in addition to those of every HTTP server. */
interface ListenSettings {
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

/** Options of a process that serves its parent process over stdio, in addition to those of every stream. */
interface ProcessSettings {
  exit?: boolean | undefined;
  guardStdout?: boolean | undefined;
  watchParent?: boolean | undefined;
  terminalHint?: boolean | undefined;
}

/** Settings for serving over HTTP. */
export type HttpSettings = Settings<HttpServerOptions & ListenSettings>;
/** Settings for serving over stdio. */
export type StdioSettings = Settings<
  Omit<ServeStreamOptions, "platform" | "decode" | "framing" | "network"> & ProcessSettings
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

const HTTP: SettingsTable<HttpServerOptions & ListenSettings> = {
  port: "whole",
  host: "text",
  path: "text",
  healthPath: "text or false",
  livePath: "text or false",
  readyPath: "text or false",
  browserPage: "flag",
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

const STDIO: SettingsTable<Omit<ServeStreamOptions, "platform" | "decode" | "framing" | "network"> & ProcessSettings> =
  {
    exit: "flag",
    guardStdout: "flag",
    watchParent: "flag",
    terminalHint: "flag",
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

/** Every setting of a file or of the environment, by section. */
export const SETTINGS = { server: SERVER, client: CLIENT, http: HTTP, stdio: STDIO, host: HOST } as const;

/** The members of a group; undefined for other settings. */
export function groupOf(setting: Setting): SettingGroup | undefined {
  if (typeof setting === "string") return undefined;
  if (isSwitch(setting)) return setting[1];
  return isChoice(setting) ? undefined : setting;
}

/** Describes the expected value; undefined if the value fits. Does not check the members of groups. */
export function expectedValue(setting: Setting, value: unknown): string | undefined {
  if (typeof setting === "string") return KINDS[setting].fits(value) ? undefined : KINDS[setting].expected;
  if (isSwitch(setting)) return value === false || isRecord(value) ? undefined : "false or an object";
  if (!isChoice(setting)) return isRecord(value) ? undefined : "an object";
  return setting.some((one) => one === value) ? undefined : `one of ${setting.map((one) => `"${one}"`).join(", ")}`;
}

/** True for a group that `false` turns off. */
export function isSwitch(setting: Setting): setting is readonly [false, SettingGroup] {
  return Array.isArray(setting) && setting[0] === false;
}

/**
 * Parses the value of an environment variable. Returns undefined, or the text itself, if the text does not fit the
 * setting.
 */
export function parseVariable(setting: Setting, text: string): unknown {
  if (setting === "flag or auto" && text.trim() === "auto") return "auto";
  if (setting === "flag" || setting === "flag or auto") return FLAGS[text.trim().toLowerCase()];
  if (setting === "count" || setting === "whole") return /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : undefined;
  if (setting === "number") return /^\s*\d{1,15}(\.\d{1,15})?\s*$/.test(text) ? Number(text) : undefined;
  if (isSwitch(setting)) return FLAGS[text.trim().toLowerCase()];
  if (setting === "texts") return text.trimStart().startsWith("[") ? parseJson(text) : splitList(text);
  if (setting === "text or texts" && text.trimStart().startsWith("[")) return parseJson(text);
  if (setting === "text map") return parseJson(text);
  return setting === "text or false" && text === "false" ? false : text;
}

/** The spellings of true and false in variables. */
const FLAGS: Readonly<Record<string, boolean | undefined>> = {
  // Without a prototype, so that `constructor` is not found.
  __proto__: null as never,
  true: true,
  yes: true,
  on: true,
  "1": true,
  false: false,
  no: false,
  off: false,
  "0": false,
};

const isNumber = (value: unknown) => typeof value === "number" && Number.isFinite(value) && value >= 0;
const isText = (value: unknown) => typeof value === "string";
const isWhole = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const areTexts = (value: unknown) => Array.isArray(value) && value.every(isText);

/** The accepted values of each kind, and their description for messages. */
const KINDS: Readonly<
  Record<Extract<Setting, string>, { readonly fits: (value: unknown) => boolean; readonly expected: string }>
> = {
  flag: { fits: (value) => typeof value === "boolean", expected: "true or false" },
  "flag or auto": {
    fits: (value) => typeof value === "boolean" || value === "auto",
    expected: 'true, false or "auto"',
  },
  count: { fits: (value) => isWhole(value) && value !== 0, expected: "a whole number above 0" },
  whole: { fits: isWhole, expected: "a whole number, 0 or above" },
  number: { fits: isNumber, expected: "a number, 0 or above" },
  text: { fits: isText, expected: "a string" },
  texts: { fits: areTexts, expected: "a list of strings" },
  "text or texts": { fits: (value) => isText(value) || areTexts(value), expected: "a string or a list of strings" },
  "text or false": { fits: (value) => isText(value) || value === false, expected: "a string or false" },
  "text map": {
    fits: (value) => isRecord(value) && Object.values(value).every(isText),
    expected: "an object whose values are strings",
  },
};

function isChoice(setting: Setting): setting is readonly string[] {
  return Array.isArray(setting);
}

function splitList(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The error is dropped, because its message would quote the text, which may be a secret.
    return undefined;
  }
}
