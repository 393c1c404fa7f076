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

/** Time limits of a client, in milliseconds. */
export interface Timeouts {
  /** Time to open the connection and complete the handshake. Default: 30,000. */
  connectMs: number;
  /**
   * Maximum time without any message about a call, such as progress. Default: 60,000. Does not run while the server
   * waits for an answer of the user.
   */
  idleMs: number;
  /**
   * Maximum total time of a call, regardless of progress. Default: 3,600,000 (60 minutes). Applies to a call that
   * becomes a task only if the options of that call set it.
   */
  totalMs: number;
  /**
   * Time for `onElicit`, `onSample`, `roots` or a handler to answer the server. After that, the server gets an error.
   * Default: 3,600,000 (60 minutes).
   */
  answerMs: number;
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  connectMs: 30_000,
  idleMs: 60_000,
  totalMs: 3_600_000,
  answerMs: 3_600_000,
};

/**
 * Calls to send again, once, after the connection was lost: `idempotent` for those that are safe to repeat (lists,
 * reads, and tools with `readOnlyHint` or `idempotentHint`), `always` for every call, or `never`. A request that the
 * server certainly did not run is sent again under `idempotent` too.
 */
export type ResendPolicy = "idempotent" | "always" | "never";

/** Context of a question: a request of the server to this client, such as an elicitation or a sampling request. */
export interface QuestionContext {
  /** Aborted when the server no longer wants the answer, or when the time to answer is over. */
  readonly signal: AbortSignal;
  /** The name and version that the server reports, not verified. The server's address if it reports none. */
  readonly server: Implementation;
}

/** Answers the server's requests of one method. Throw an `McpError` to refuse. */
export type ServerRequestHandler = (
  params: Record<string, unknown>,
  context: QuestionContext,
) => object | undefined | Promise<object | undefined>;

/** Options of `connect`. All are optional. */
export interface ClientOptions {
  /** The name that the client reports to the server. Default: `parley`. */
  name?: string | undefined;
  /** The version that the client reports to the server. Default: the version of this package. */
  version?: string | undefined;
  /** A display name of the client, for users of the server. Default: none. */
  title?: string | undefined;
  /** A description of the client in one sentence. Default: none. */
  description?: string | undefined;
  /** The address of the client's web site. Default: none. */
  websiteUrl?: string | undefined;
  /**
   * Icons of the client, as `https:` or `data:` URLs. Keep them short: revision 2026-07-28 sends them with every
   * request. Default: none.
   */
  icons?: Icon[] | undefined;
  /**
   * Further capabilities to declare, such as `experimental`. A member replaces the derived capability of that name.
   * `elicitation`, `sampling` and `roots` need their handlers. Default: the capabilities that follow from the other
   * options.
   */
  capabilities?: ClientCapabilities | undefined;
  /** The protocol revisions that the client may use. Default: all. */
  revisions?: readonly Revision[] | undefined;
  /**
   * The `client.prior` of an earlier connection to the same server. Saves a request to find the revision. Default: the
   * client asks the server.
   */
  prior?: Prior | undefined;
  /** Time limits for connecting, calls and answers. Each has its own default. */
  timeouts?: Some<Timeouts> | undefined;
  /** Aborts connecting. Has no effect on an open client. */
  signal?: AbortSignal | undefined;
  /**
   * Answers elicitations: forms for the user to fill in, and pages to visit. Without this option the client does not
   * declare `elicitation`.
   */
  onElicit?:
    | ((question: ElicitRequestParams, context: QuestionContext) => ElicitResult | Promise<ElicitResult>)
    | undefined;
  /** True if `onElicit` can also handle pages to visit. Default: true. */
  elicitUrls?: boolean | undefined;
  /**
   * Answers sampling requests: messages for a model, whose reply the server wants. Throw an `McpError` of kind
   * `declined` if the user refuses. Without this option the client does not declare `sampling`.
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
   * True if `onSample` can handle sampling requests with tools. Default: true.
   *
   * @deprecated The protocol deprecates sampling; call the API of a model's provider instead.
   */
  sampleTools?: boolean | undefined;
  /**
   * Folders that the server may work in, or a function that returns them. `client.roots` changes them. Without this
   * option the client does not declare `roots`.
   *
   * @deprecated The protocol deprecates roots; pass folders as arguments of tools, as resources or in the server's configuration.
   */
  roots?: readonly Root[] | (() => readonly Root[] | Promise<readonly Root[]>) | undefined;
  /**
   * Answers other requests of the server, by method. The result is an object. Only revisions with sessions allow such
   * requests. Elicitation, sampling and roots have separate options, which also declare the capabilities.
   */
  handlers?: Readonly<Record<string, ServerRequestHandler>> | undefined;
  /**
   * The lowest level of log messages to request. Default: the server decides.
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
  /**
   * Called with a warning about a problem that the client worked around, such as an omitted malformed tool. Default:
   * the platform's `warn`.
   */
  onWarning?: ((message: string) => void) | undefined;
  /**
   * Called with every message sent or received, before it is processed, for logs and recordings. Messages may contain
   * secrets. Default: none.
   */
  onMessage?: ((message: WireMessage) => void) | undefined;
  /** Rejects a result with any flaw instead of omitting the flawed part with a warning. Default: false. */
  strict?: boolean | undefined;
  /** Validates `structuredContent` against the tool's output schema, if the tool was listed. Default: true. */
  checkOutput?: boolean | undefined;
  /** Calls to send again after a lost connection. Default: `idempotent`. See `ResendPolicy`. */
  resend?: ResendPolicy | undefined;
  /**
   * Settings of the result cache, or `false` to cache nothing. Default: results are cached as long as the server
   * allows.
   */
  cache?: false | CacheSettings | undefined;
  /** Returns the trace context to send with each request. Default: none. */
  trace?: (() => TraceContext | undefined) | undefined;
  /** Observers of every request and of the connection's state, for metrics and traces. Default: none. */
  observe?: ClientObserver | readonly ClientObserver[] | undefined;
  /**
   * Maximum number of rounds in which the server may ask questions during one call. Beyond that, the call rejects.
   * Default: 10.
   */
  maxRounds?: number | undefined;
  /**
   * Maximum number of questions in all rounds of one call. Beyond that, the call rejects. Default: 64, because each
   * question may be a dialog or a paid model call.
   */
  maxQuestions?: number | undefined;
  /** Protocol extensions that the client declares and handles. Default: none. */
  extensions?: readonly Extension[] | undefined;
  /** The longest message accepted from a URL or a program, in bytes. Default: 16 MiB. */
  maxMessageBytes?: number | undefined;
  /**
   * Adds credentials to HTTP requests: `oauth(…)` or `bearerToken(…)` of `@parley/mcp/auth`. Default: none, and
   * connecting to a protected server rejects with kind `auth_required`.
   */
  auth?: RequestAuthorization | undefined;
  /** Headers to send with every HTTP request. Default: none. */
  headers?: Record<string, string> | undefined;
  /** Sends HTTP requests in place of the runtime's own client. Default: the runtime's own. */
  fetch?: Fetch | undefined;
  /**
   * Sends HTTP requests in place of `fetch` and of the runtime's own client. `nodeSender({ agents })` of
   * `@parley/mcp/node` accepts agents for proxies, client certificates and Unix sockets.
   */
  sender?: Sender | undefined;
  /** Replaces parts of the runtime, such as the clock, for example in a test. Default: the runtime's own. */
  platform?: Partial<Platform> | undefined;
}

/** Throws `invalid_definition` for unknown or malformed options. */
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
    throw new McpError("invalid_definition", `\`${name}\` of connect is a ${typeof value}`, { fix: "Pass a string." });
  }
  const icons: unknown = options.icons;
  if (icons === undefined || (Array.isArray(icons) && icons.every((icon) => typeof icon?.src === "string"))) return;
  throw new McpError("invalid_definition", "`icons` of connect is not a list of icons", {
    fix: 'Pass icons as `[{ src: "https://…" }]`.',
  });
}

/** The option that handles the server's requests for each capability. */
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
    throw new McpError(
      "invalid_definition",
      `\`capabilities\` declares \`${capability}\`, but \`connect\` got no handler for it`,
      {
        fix: `Pass \`${option}\` to \`connect\`; it declares the capability.`,
      },
    );
  }
}

/** Throws for a capability without an implementation, and for one that is not an object. */
function checkDeclared(capabilities: object): void {
  for (const [capability, value] of Object.entries(capabilities)) {
    if (capability === "tasks") {
      throw new McpError("invalid_definition", "`capabilities` declares `tasks`, which this client does not support", {
        fix: "Leave it out; calls that become tasks need the extension `tasks` in `extensions`.",
      });
    }
    if (value === undefined || (typeof value === "object" && value !== null && !Array.isArray(value))) continue;
    throw new McpError("invalid_definition", `\`capabilities.${capability}\` of connect is not an object`, {
      fix: `Pass it as \`{ ${capability}: { … } }\`.`,
    });
  }
}

/** Options of one call. All are optional. */
export interface CallOptions {
  /** Cancels the call, here and at the server. */
  signal?: AbortSignal | undefined;
  /** Called with each progress report on this call. Default: progress only restarts the idle deadline. */
  onProgress?: ((progress: ProgressNotificationParams) => void) | undefined;
  /** Time limits of this call. Default: those of the connection. */
  timeouts?: Some<Pick<Timeouts, "idleMs" | "totalMs">> | undefined;
  /** Additional members of the request's `_meta`. */
  meta?: Record<string, unknown> | undefined;
  /** The trace context to send with this call. Default: the result of the connection's `trace`. */
  trace?: TraceContext | undefined;
  /** Overrides the connection's `resend` for this call. */
  resend?: ResendPolicy | undefined;
  /** Set to `false` to ignore a cached result. Default: true. */
  cache?: boolean | undefined;
}
