import type { Some } from "../encoding/with-defaults.js";
import type { Platform } from "../platform/platform.js";
import { McpError } from "../protocol/error.js";
import type { Extension } from "../protocol/extension.js";
import type { LoggingLevel } from "../protocol/features/logging.js";
import type { Implementation } from "../protocol/implementation.js";
import type { Revision } from "../protocol/revisions.js";
import type { JsonSchemaAdapter } from "../schema/standard.js";
import type { Storage } from "../storage/storage.js";
import type { RequestContext } from "./context.js";
import type { CacheOptions } from "./lists/cache-hints.js";
import type { ToolPolicy } from "./tools/tool-policy.js";

/** Who a server is, as clients are told. */
export interface ServerInfo extends Implementation {}

/** Bounds of a server; each has a default and is named by the error that it causes. */
export interface ServerLimits {
  /** How long a client may take to answer questions, in milliseconds. */
  answerMs: number;
  /** Size of all answers and steps of one call. */
  stateBytes: number;
  /** Rounds of questions in one call. */
  rounds: number;
  /** Questions in one round. */
  questions: number;
  /** URIs that one session, or one listen request, may subscribe to. */
  subscriptions: number;
  /** Length of all these URIs together. */
  subscriptionLength: number;
  /** Listen requests of one pipe that may be open at once. */
  listensPerPeer: number;
  /** Listen requests of the whole server that may be open at once. */
  listens: number;
  /** Calls of tools that run at once. */
  calls: number;
  /** Calls of tools that wait for their turn, for the server and for each tool that limits itself. */
  queuedCalls: number;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  answerMs: 600_000,
  stateBytes: 256 * 1024,
  rounds: 32,
  questions: 32,
  subscriptions: 1000,
  subscriptionLength: 256 * 1024,
  listensPerPeer: 64,
  listens: 20_000,
  calls: 10_000,
  queuedCalls: 1000,
};

/** What can be chosen about a server. */
export interface ServerOptions {
  /** How to use the server, for the model. */
  instructions?: string | undefined;
  /** Revisions to speak; all by default. */
  revisions?: readonly Revision[] | undefined;
  /**
   * Seals question state, cursors and event ids; several for rotation, the first one seals. Without it a random one is
   * made per process, so a retry that reaches another process is refused.
   */
  secret?: string | readonly string[] | undefined;
  limits?: Some<ServerLimits> | undefined;
  /** Converts schemas of libraries that cannot do it themselves, for example valibot's `toJsonSchema`. */
  toJsonSchema?: JsonSchemaAdapter | undefined;
  /** Items in one page of a list; without it a list is one page. */
  pageSize?: number | undefined;
  /** How long clients may keep lists and resources. Default: not at all, and for nobody else. */
  cache?: CacheOptions | undefined;
  /** Features that clients are told of before the first one of a kind is registered. */
  declare?: readonly ("tools" | "resources" | "prompts")[] | undefined;
  /** Tell clients when a list changes. Default: true. */
  listChanged?: boolean | undefined;
  /** Let clients subscribe to resources. Default: true. */
  subscribe?: boolean | undefined;
  /**
   * Holds the sessions and event streams of HTTP, and carries changes to the subscribers of other processes that serve the
   * same server, which must have the same name there. Default: the memory of this process, because most servers are one.
   */
  storage?: Storage | undefined;
  /** Called when a URI gets its first subscriber in this process. See also `watch` of a resource. */
  onSubscribe?: ((uri: string) => void) | undefined;
  /** Called when a URI has lost its last subscriber in this process. */
  onUnsubscribe?: ((uri: string) => void) | undefined;
  /** Called when a client has chosen how much it wants to read of the log. */
  onLogLevel?: ((level: LoggingLevel, ctx: RequestContext) => void) | undefined;
  /** Hide what unexpected errors say behind a fixed text and an id. */
  maskErrors?: boolean | undefined;
  /** What happens to arguments that do not fit the schema: told to the model (default), or refused as -32602. */
  invalidArguments?: "result" | "protocol" | undefined;
  /** How calls of tools are treated where a tool does not say it itself. */
  tools?: ToolPolicy | undefined;
  /** Declare `logging` and send what handlers log. Default: true. */
  logging?: boolean | undefined;
  extensions?: readonly Extension[] | undefined;
  platform?: Partial<Platform> | undefined;
}

/** Checks a page size when the server is made, where its author sees the error. */
export function checkPageSize(pageSize: number | undefined): void {
  if (pageSize === undefined || (Number.isSafeInteger(pageSize) && pageSize > 0)) return;
  throw new McpError("invalid_definition", `\`pageSize\` is ${pageSize}`, { fix: "Give a whole number above 0." });
}
