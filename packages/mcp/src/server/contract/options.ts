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

/** The name, version and other facts that a server tells clients about itself. */
export interface ServerInfo extends Implementation {}

/** Limits that protect a server from its clients. An error names the limit that caused it. */
export interface ServerLimits {
  /** Milliseconds that a client may take to answer questions. Default: 600,000 (10 minutes), because people fill in forms. */
  answerMs: number;
  /** Bytes of all answers and steps of one call. Default: 256 KiB. Clients send them back with every round. */
  stateBytes: number;
  /** Rounds of questions in one call. Default: 10, which is where clients usually stop. */
  rounds: number;
  /** Questions in one round. Default: 32. */
  questions: number;
  /** Length of what a client says of itself in `initialize`, as JSON. Default: 16,384. Servers keep it for each session. */
  clientLength: number;
  /** URIs that one session or one listen request may subscribe to. Default: 1000. */
  subscriptions: number;
  /** Length of all these URIs together, in characters. Default: 32,768. */
  subscriptionLength: number;
  /** Length of the URIs of all sessions and listen requests together, in characters. Default: 33,554,432. */
  totalSubscriptionLength: number;
  /** Open listen requests of one pipe. Default: 64. */
  listensPerPeer: number;
  /** Open listen requests of the whole server. Default: 20,000. */
  listens: number;
  /** Tool calls that run at once. Default: 10,000. */
  calls: number;
  /** Of these, calls of one authenticated principal, never more than nine tenths of `calls`; others of it wait. Default: 9000. */
  callsPerPrincipal: number;
  /** Tool calls that wait for a free slot, for the server and for each tool with a `concurrency`. Default: 1000. */
  queuedCalls: number;
}

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
  /** For the model: how to use the server. */
  instructions?: string | undefined;
  /** Revisions of the protocol to speak. Default: all. */
  revisions?: readonly Revision[] | undefined;
  /**
   * Protects question state, cursors and event ids against changes by clients: at least 32 characters. With several, the first
   * one seals and all of them open, for rotation. Default: a random secret per process, so set it where several processes serve one client.
   */
  secret?: string | readonly string[] | undefined;
  /** Replaces the defaults of single limits. */
  limits?: Some<ServerLimits> | undefined;
  /** Converts schemas of libraries without a conversion of their own, for example valibot's `toJsonSchema`. */
  toJsonSchema?: JsonSchemaAdapter | undefined;
  /** Items per page of a list. Default: the whole list is one page. */
  pageSize?: number | undefined;
  /** How long clients may cache lists and resources. Default: not at all, because the library cannot know what is stable. */
  cache?: CacheOptions | undefined;
  /** Places where further offers come from, such as the rows of a database. Default: only what is registered. */
  sources?: readonly Source[] | undefined;
  /** Kinds to declare even while nothing of them is registered, for servers that add offers later. Default: none. */
  declare?: readonly ("tools" | "resources" | "prompts")[] | undefined;
  /** Whether clients are notified when a list changes. Default: true. */
  listChanged?: boolean | undefined;
  /** Whether clients may subscribe to resources. Default: true. */
  subscribe?: boolean | undefined;
  /**
   * Stores the sessions and event streams of HTTP, and carries changes to subscribers of other processes. All processes of a
   * server must use the same server name. Default: the memory of this process, because most servers are a single process.
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
   * Whether clients get a neutral text with a reference instead of the message of an unexpected error. `ToolError` and
   * `McpError` are always sent. Default: false for clients on this machine (stdio, in-process, loopback without
   * `authenticate`), because models correct themselves by the message; true for all others, because it may contain secrets.
   */
  maskErrors?: boolean | undefined;
  /**
   * Called with every error that a handler or middleware did not throw for its caller, which is all but `ToolError` and
   * `McpError`. Default: it is printed with its stack and the reference that the client may have got.
   */
  onError?: ((error: unknown, failure: CallFailure) => void) | undefined;
  /**
   * The treatment of requests other than `ping` that a client with a session sends before `notifications/initialized`. Default `serve`,
   * with one warning, because over HTTP a request may overtake the notification.
   */
  earlyRequests?: "serve" | "refuse" | undefined;
  /** How arguments that do not fit the schema are answered: a result for the model (default), or the error -32602. */
  invalidArguments?: "result" | "protocol" | undefined;
  /** Limits of each caller and of tools with a `rate`, made by `quotas` of `@parley/mcp/limits`. Default: only `limits`. */
  quotas?: Quotas | undefined;
  /** Defaults for all tools, which a tool's own definition replaces. */
  tools?: ToolPolicy | undefined;
  /**
   * Whether the server declares `logging` and sends what handlers log. Default: true.
   *
   * @deprecated The protocol deprecates logging; write to stderr, or use OpenTelemetry.
   */
  logging?: boolean | undefined;
  /** Extensions of the protocol that the server declares and handles. Default: none. */
  extensions?: readonly Extension[] | undefined;
  /** Replaces parts of the runtime, such as the clock, for example in a test. Default: the runtime's own. */
  platform?: Partial<Platform> | undefined;
}

/** Throws for options that do not exist. */
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

/** Throws for a bad page size when the server is created, where its author sees the error. */
export function checkPageSize(pageSize: number | undefined): void {
  if (pageSize === undefined || (Number.isSafeInteger(pageSize) && pageSize > 0)) return;
  throw new McpError("invalid_definition", `\`pageSize\` is ${pageSize}`, { fix: "Pass a whole number above 0." });
}
