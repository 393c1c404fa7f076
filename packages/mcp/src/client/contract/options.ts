import type { Some } from "../../encoding/with-defaults.js";
import type { Prior } from "../../era/negotiate/negotiation.js";
import type { Sender } from "../../http/http.js";
import type { RequestAuthorization } from "../../http/request-authorization.js";
import type { Fetch, Platform } from "../../platform/platform.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { Extension } from "../../protocol/extension.js";
import type { ElicitRequestParams, ElicitResult } from "../../protocol/features/elicitation.js";
import type { Root } from "../../protocol/features/roots.js";
import type { CreateMessageRequestParams, CreateMessageResult } from "../../protocol/features/sampling.js";
import type { Icon, Implementation } from "../../protocol/implementation.js";
import type { ProgressNotificationParams } from "../../protocol/lifecycle.js";
import type { LoggingLevel, LoggingMessageNotificationParams } from "../../protocol/logging.js";
import type { Revision } from "../../protocol/revisions.js";
import type { TraceContext } from "../../protocol/trace-context.js";
import type { WireMessage } from "../../transport/watched-transport.js";
import type { CacheSettings } from "./cache.js";
import type { ClientObserver } from "./observer.js";

/** How long a client waits, in milliseconds. */
export interface Timeouts {
  /** For the connection and its handshake. Default 30 s. */
  connectMs: number;
  /** Without any sign of life of one call; progress is one. Default 60 s. */
  idleMs: number;
  /**
   * For one call as a whole, which no progress extends. Default 60 min. A call that becomes a task is bound by it only if it was
   * set for this call.
   */
  totalMs: number;
  /** For `onElicit`, `onSample` or `roots` to answer a question of the server, which gets an error afterwards. Default 60 min. */
  answerMs: number;
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  connectMs: 30_000,
  idleMs: 60_000,
  totalMs: 3_600_000,
  answerMs: 3_600_000,
};

/**
 * Whether a call that was lost with its connection is sent once more on the next one: those that are safe to repeat (lists,
 * reads, tools that say `readOnlyHint` or `idempotentHint`), every call, or none.
 */
export type ResendPolicy = "idempotent" | "always" | "never";

/** What an answerer of the server's questions is told beside the question. */
export interface QuestionContext {
  /** Aborted when the server no longer wants the answer. */
  readonly signal: AbortSignal;
  /** The name and version that the server gives itself, unverified; its address where it gives none. */
  readonly server: Implementation;
}

/** Answers requests of one method that a server sends. Throw an `McpError` to refuse. */
export type ServerRequestHandler = (
  params: Record<string, unknown>,
  context: QuestionContext,
) => object | undefined | Promise<object | undefined>;

/** Options of a connection. */
export interface ClientOptions {
  /** The name that the client gives to the server. Default: this package's name. */
  name?: string | undefined;
  /** The version that the client gives to the server. Default: this package's version. */
  version?: string | undefined;
  /** A display name of the client for users of the server. Default: none. */
  title?: string | undefined;
  /** Describes the client in one sentence. Default: none. */
  description?: string | undefined;
  /** The address of the client's web site. Default: none. */
  websiteUrl?: string | undefined;
  /** Icons of the client, as `https:` or `data:` addresses. Keep them short: 2026-07-28 sends them with every request. Default: none. */
  icons?: Icon[] | undefined;
  /**
   * More capabilities to declare, such as `experimental`; a member replaces the derived one of that name. `elicitation`, `sampling`
   * and `roots` need their handlers. Default: those that follow from the other options.
   */
  capabilities?: ClientCapabilities | undefined;
  /** Revisions to speak; all by default. */
  revisions?: readonly Revision[] | undefined;
  /** What an earlier connection learnt about the server, from `client.prior`. Default: the server is asked. */
  prior?: Prior | undefined;
  /** Deadlines for connecting and for calls; each has its own default. */
  timeouts?: Some<Timeouts> | undefined;
  /** Ends the attempt to connect. */
  signal?: AbortSignal | undefined;
  /** Answers forms and pages; without it the client does not declare `elicitation`. */
  onElicit?:
    | ((question: ElicitRequestParams, context: QuestionContext) => ElicitResult | Promise<ElicitResult>)
    | undefined;
  /** Whether `onElicit` also handles pages to visit. Default: true. */
  elicitUrls?: boolean | undefined;
  /**
   * Answers questions to the model. Throw an `McpError` of kind `declined` when the user refuses.
   *
   * @deprecated The protocol deprecates sampling; call the API of a model's provider instead.
   */
  onSample?:
    | ((
        question: CreateMessageRequestParams,
        context: QuestionContext,
      ) => CreateMessageResult | Promise<CreateMessageResult>)
    | undefined;
  /**
   * Whether `onSample` handles tools. Default: true.
   *
   * @deprecated The protocol deprecates sampling; call the API of a model's provider instead.
   */
  sampleTools?: boolean | undefined;
  /**
   * Folders that the server may work in. `client.roots` changes them.
   *
   * @deprecated The protocol deprecates roots; pass folders as arguments of tools, as resources or in the server's configuration.
   */
  roots?: readonly Root[] | (() => readonly Root[] | Promise<readonly Root[]>) | undefined;
  /**
   * Answers other requests of the server, by their method; the result is an object. Only revisions with sessions have requests of
   * the server. Elicitation, sampling and roots have options of their own, which also declare them.
   */
  handlers?: Readonly<Record<string, ServerRequestHandler>> | undefined;
  /**
   * The lowest level of log messages to request.
   *
   * @deprecated The protocol deprecates logging; write to stderr, or use OpenTelemetry.
   */
  logLevel?: LoggingLevel | undefined;
  /**
   * Called with each log message of the server.
   *
   * @deprecated The protocol deprecates logging; write to stderr, or use OpenTelemetry.
   */
  onLog?: ((message: LoggingMessageNotificationParams) => void) | undefined;
  /** Called with a warning about a problem that the client could work around. Default: the platform's `warn`. */
  onWarning?: ((message: string) => void) | undefined;
  /**
   * Called with every message that is sent or received, before anything is made of it, for logs and recordings: it may hold secrets.
   * Default: nobody.
   */
  onMessage?: ((message: WireMessage) => void) | undefined;
  /** Refuse results with any flaw, in place of leaving out the flawed part with a warning. Default: false. */
  strict?: boolean | undefined;
  /** Check `structuredContent` against the tool's output schema, where the tool was listed. Default: true. */
  checkOutput?: boolean | undefined;
  /** Default `idempotent`; see `ResendPolicy`. */
  resend?: ResendPolicy | undefined;
  /** Keep results as long as the server allows or `cache.ttlMs` says, or not at all. Default: as the server allows. */
  cache?: false | CacheSettings | undefined;
  /** Gives the trace context that goes with each request. */
  trace?: (() => TraceContext | undefined) | undefined;
  /** Told of every request and of the state of the connection, for metrics and traces. Default: nobody. */
  observe?: ClientObserver | readonly ClientObserver[] | undefined;
  /** Rounds of questions in one call. Default 10. */
  maxRounds?: number | undefined;
  /** Questions in all rounds of one call. Default 64, because each may be a paid model call or a dialog. */
  maxQuestions?: number | undefined;
  /** Extensions of the protocol that the client declares and handles. Default: none. */
  extensions?: readonly Extension[] | undefined;
  /** Longest message that is read from a URL or a program, in bytes. Default 16 MiB. */
  maxMessageBytes?: number | undefined;
  /**
   * Gives HTTP requests their credentials: `oauth(…)` or `bearerToken(…)` of `@parley/mcp/auth`. Default: none, and a server that
   * wants some refuses with `auth_required`.
   */
  auth?: RequestAuthorization | undefined;
  /** Sent with every HTTP request. */
  headers?: Record<string, string> | undefined;
  /** Sends HTTP requests in place of the runtime's own way. */
  fetch?: Fetch | undefined;
  /**
   * Sends HTTP requests in place of `fetch` and of the runtime's own way. `nodeSender({ agents })` of `@parley/mcp/node` takes
   * agents for proxies, client certificates and Unix sockets.
   */
  sender?: Sender | undefined;
  /** Replaces parts of the runtime, such as the clock, for example in a test. Default: the runtime's own. */
  platform?: Partial<Platform> | undefined;
}

/** Throws for options that do not exist. */
export function checkClientOptions(options: ClientOptions): void {
  checkOptions(
    "connect",
    options,
    "name version title description websiteUrl icons capabilities handlers revisions prior timeouts signal onElicit elicitUrls onSample sampleTools roots logLevel onLog onWarning onMessage strict checkOutput resend cache trace observe maxRounds maxQuestions extensions maxMessageBytes auth headers fetch sender platform",
  );
  checkOptions("`timeouts`", options.timeouts, "connectMs idleMs totalMs answerMs");
  if (options.cache !== false) checkOptions("`cache`", options.cache, "entries size store context ttlMs");
  checkClientInfo(options);
  checkCapabilities(options);
}

function checkClientInfo(options: ClientOptions): void {
  for (const name of ["name", "version", "title", "description", "websiteUrl"] as const) {
    const value: unknown = options[name];
    if (value === undefined || typeof value === "string") continue;
    throw new McpError("invalid_definition", `\`${name}\` of connect is a ${typeof value}`, { fix: "Pass a text." });
  }
  const icons: unknown = options.icons;
  if (icons === undefined || (Array.isArray(icons) && icons.every((icon) => typeof icon?.src === "string"))) return;
  throw new McpError("invalid_definition", "`icons` of connect is not a list of icons", {
    fix: 'Pass icons as `[{ src: "https://…" }]`.',
  });
}

/** The option that answers what a capability lets a server ask for. */
const ANSWERED_BY = {
  elicitation: "onElicit",
  sampling: "onSample",
  roots: "roots",
  extensions: "extensions",
} as const;

function checkCapabilities(options: ClientOptions): void {
  const { capabilities } = options;
  if (capabilities === undefined) return;
  if (typeof capabilities !== "object" || capabilities === null || Array.isArray(capabilities)) {
    throw new McpError("invalid_definition", "`capabilities` of connect is not an object", {
      fix: "Pass it as `{ experimental: { … } }`.",
    });
  }
  checkDeclared(capabilities);
  for (const [capability, option] of Object.entries(ANSWERED_BY)) {
    if (!Object.hasOwn(capabilities, capability)) continue;
    if (capability !== "extensions" && options[option as keyof ClientOptions] !== undefined) continue;
    throw new McpError("invalid_definition", `\`capabilities\` declares \`${capability}\`, which nothing answers`, {
      fix: `Pass \`${option}\` to \`connect\`; it declares the capability.`,
    });
  }
}

/** Throws for a capability that no option implements, and for one that is no object. */
function checkDeclared(capabilities: object): void {
  for (const [capability, value] of Object.entries(capabilities)) {
    if (capability === "tasks") {
      throw new McpError("invalid_definition", "`capabilities` declares `tasks`, which this client does not serve", {
        fix: "Leave it out; calls that become tasks need the extension `tasks` in `extensions`.",
      });
    }
    if (value === undefined || (typeof value === "object" && value !== null && !Array.isArray(value))) continue;
    throw new McpError("invalid_definition", `\`capabilities.${capability}\` of connect is not an object`, {
      fix: `Pass it as \`{ ${capability}: { … } }\`.`,
    });
  }
}

/** Options of one call. */
export interface CallOptions {
  /** Cancels the call, here and at the server. */
  signal?: AbortSignal | undefined;
  /** Called with each progress report on this call. Default: the server is not asked for any. */
  onProgress?: ((progress: ProgressNotificationParams) => void) | undefined;
  /** Deadlines of this call. Default: those of the connection. */
  timeouts?: Some<Pick<Timeouts, "idleMs" | "totalMs">> | undefined;
  /** More members for the request's `_meta`. */
  meta?: Record<string, unknown> | undefined;
  /** The trace context of this call. Default: what the connection's `trace` returns. */
  trace?: TraceContext | undefined;
  /** Whether this call is sent again after a lost connection. Default: the connection's `resend`. */
  resend?: ResendPolicy | undefined;
  /** `false` asks the server also when a kept result is still fresh. */
  cache?: boolean | undefined;
}
