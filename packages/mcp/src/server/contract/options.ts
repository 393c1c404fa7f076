import type { Some } from "../../encoding/with-defaults.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { Extension } from "../../protocol/extension.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { LoggingLevel } from "../../protocol/logging.js";
import type { Revision } from "../../protocol/revisions.js";
import type { JsonSchemaAdapter } from "../../schema/standard.js";
import type { Storage } from "../../storage/storage.js";
import type { CacheOptions } from "./cache-hints.js";
import type { RequestContext } from "./context.js";
import type { CallFailure } from "./observer.js";
import type { Quotas } from "./quota-options.js";
import type { Source } from "./source.js";
import type { ToolPolicy } from "./tool.js";

/** The name, version and other properties by which a server introduces itself to clients. */
export interface ServerInfo extends Implementation {}

/** Limits that protect a server from its clients. The error of a refused request names the limit. */
export interface ServerLimits {
  /**
   * Maximum time in milliseconds for the client to answer questions. Default: 600,000 (10 minutes), because people fill
   * in forms.
   */
  answerMs: number;
  /**
   * Maximum size in bytes of all answers and steps of one call. Default: 256 KiB, because clients send the answers and
   * steps again with every round.
   */
  stateBytes: number;
  /** Maximum number of rounds of questions in one call. Default: 10, the usual limit of clients. */
  rounds: number;
  /** Maximum number of questions in one round. Default: 32. */
  questions: number;
  /**
   * Maximum length in characters of the client's info and capabilities in `initialize`, as JSON. Default: 16,384,
   * because the server stores them for each session.
   */
  clientLength: number;
  /** Maximum number of URIs that one session or one `subscriptions/listen` request may subscribe to. Default: 1000. */
  subscriptions: number;
  /** Maximum total length in characters of the URIs of one session or listen request. Default: 32,768. */
  subscriptionLength: number;
  /**
   * Maximum total length in characters of the URIs of all sessions and listen requests together. Default: 33,554,432.
   */
  totalSubscriptionLength: number;
  /** Maximum number of open `subscriptions/listen` requests of one connection, such as a pipe. Default: 64. */
  listensPerPeer: number;
  /** Maximum number of open `subscriptions/listen` requests of the whole server. Default: 20,000. */
  listens: number;
  /** Maximum number of tool calls that run at the same time. Further calls wait. Default: 10,000. */
  calls: number;
  /**
   * Maximum number of tool calls of one authenticated principal that run at the same time, never more than nine tenths
   * of `calls`. Further calls wait. Default: 9000.
   */
  callsPerPrincipal: number;
  /**
   * Maximum number of tool calls in a queue for a free slot. The server has one queue, and each tool with a
   * `concurrency` has its own. Further calls are refused. Default: 1000.
   */
  queuedCalls: number;
}

/** The default of every limit. */
export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  answerMs: 600_000,
  stateBytes: 256 * 1024,
  rounds: 10,
  questions: 32,
  clientLength: 16 * 1024,
  subscriptions: 1000,
  subscriptionLength: 32 * 1024,
  totalSubscriptionLength: 32 * 1024 * 1024,
  listensPerPeer: 64,
  listens: 20_000,
  calls: 10_000,
  callsPerPrincipal: 9000,
  queuedCalls: 1000,
};

/** Options of a server. All are optional. */
export interface ServerOptions {
  /** Instructions for the model: how to use this server. Default: those of the first source that has any. */
  instructions?: string | undefined;
  /** Protocol revisions that the server supports. Default: all. */
  revisions?: readonly Revision[] | undefined;
  /**
   * Protects question state, cursors and event ids against changes by clients. At least 32 characters. If it is a list,
   * the first secret signs and all of them verify, for rotation. Default: a random secret per process. Set it if
   * several processes serve the same clients.
   */
  secret?: string | readonly string[] | undefined;
  /** Overrides individual limits. */
  limits?: Some<ServerLimits> | undefined;
  /**
   * Converts schemas to JSON Schema for libraries that do not convert them themselves, for example valibot's
   * `toJsonSchema`.
   */
  toJsonSchema?: JsonSchemaAdapter | undefined;
  /** Maximum number of entries per page of a list. Default: the whole list is one page. */
  pageSize?: number | undefined;
  /**
   * Cache hints for clients: how long they may cache lists and resources. Default: no caching, because the library
   * cannot know which results are stable.
   */
  cache?: CacheOptions | undefined;
  /** Further sources of offers, such as the rows of a database. Default: none, only registered offers. */
  sources?: readonly Source[] | undefined;
  /**
   * Capabilities to declare even while nothing of the kind is registered, for servers that add offers later. Default:
   * none.
   */
  declare?: readonly ("tools" | "resources" | "prompts")[] | undefined;
  /** True if the server notifies clients when a list changes. Default: true. */
  listChanged?: boolean | undefined;
  /** True if clients may subscribe to resources. Default: true. */
  subscribe?: boolean | undefined;
  /**
   * Stores HTTP sessions and event streams, and publishes changes to the subscribers of other processes. All processes
   * of a server must use the same server name. Default: the memory of this process, because most servers are a single
   * process.
   */
  storage?: Storage | undefined;
  /** Called when a URI gets its first subscriber in this process. See also `watch` of a resource. */
  onSubscribe?: ((uri: string) => void) | undefined;
  /** Called when a URI has lost its last subscriber in this process. */
  onUnsubscribe?: ((uri: string) => void) | undefined;
  /**
   * Called when a client has set its log level.
   *
   * @deprecated The protocol deprecates logging; write to stderr, or use OpenTelemetry.
   */
  onLogLevel?: ((level: LoggingLevel, ctx: RequestContext) => void) | undefined;
  /**
   * True if clients get a neutral text with a reference instead of the message of an unexpected error. The texts of
   * `ToolError`, and of every `McpError` except those raised by a client connection that the handler uses, are always
   * sent. Default: false for clients on this machine (stdio, in-process, loopback without `authenticate`), because
   * models use the message to correct themselves; true for all others, because the message may contain secrets.
   */
  maskErrors?: boolean | undefined;
  /**
   * Called with every unexpected error of a handler or middleware. A `ToolError` is always expected, and so is an
   * `McpError`, unless a client connection that the handler uses raised it. Default: prints the error with its stack
   * and with the reference that a client gets if the text is masked.
   */
  onError?: ((error: unknown, failure: CallFailure) => void) | undefined;
  /**
   * Treatment of requests, other than `ping`, that a client with a session sends before `notifications/initialized`.
   * Default: `serve`, with one warning, because over HTTP a request may overtake the notification.
   */
  earlyRequests?: "serve" | "refuse" | undefined;
  /**
   * Answer to arguments that do not match the schema: `result` returns an error result for the model, `protocol`
   * returns the error -32602. Default: `result`.
   */
  invalidArguments?: "result" | "protocol" | undefined;
  /**
   * Limits per caller, and for tools with a `rate`. Created by `quotas` of `@parley/mcp/limits`. Default: only
   * `limits`.
   */
  quotas?: Quotas | undefined;
  /** Defaults for all tools. A tool's own definition overrides them. */
  tools?: ToolPolicy | undefined;
  /**
   * True if the server declares `logging` and sends the log messages of handlers. Default: true.
   *
   * @deprecated The protocol deprecates logging; write to stderr, or use OpenTelemetry.
   */
  logging?: boolean | undefined;
  /** Protocol extensions that the server declares and serves. Default: none. */
  extensions?: readonly Extension[] | undefined;
  /** Replaces parts of the runtime, such as the clock in a test. Default: the runtime's own. */
  platform?: Partial<Platform> | undefined;
}

/** Throws for unknown options, and for an invalid `earlyRequests`. */
export function checkServerOptions(options: ServerOptions): void {
  const { earlyRequests = "serve" } = options;
  if (earlyRequests !== "serve" && earlyRequests !== "refuse") {
    throw new McpError("invalid_definition", `\`earlyRequests\` is ${JSON.stringify(earlyRequests)}`, {
      fix: 'Pass "serve" or "refuse".',
    });
  }
  checkOptions(
    "the server",
    options,
    "instructions revisions secret limits toJsonSchema pageSize cache sources declare listChanged subscribe storage onSubscribe onUnsubscribe onLogLevel maskErrors earlyRequests invalidArguments onError quotas tools logging extensions platform",
  );
  checkOptions(
    "`limits`",
    options.limits,
    "answerMs stateBytes rounds questions subscriptions subscriptionLength totalSubscriptionLength clientLength listensPerPeer listens calls callsPerPrincipal queuedCalls",
  );
  checkOptions("`tools`", options.tools, "coerce unknownArguments timeoutMs maxResultBytes overflow");
  checkOptions("`cache`", options.cache, "ttlMs scope discover tools prompts resources resourceTemplates read");
}

/** Throws for an invalid page size when the server is created, so that the author of the server sees the error. */
export function checkPageSize(pageSize: number | undefined): void {
  if (pageSize === undefined || (Number.isSafeInteger(pageSize) && pageSize > 0)) return;
  throw new McpError("invalid_definition", `\`pageSize\` is ${pageSize}`, { fix: "Pass a whole number above 0." });
}
