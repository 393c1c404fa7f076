import type { CacheHint } from "../era/era.js";
import type { Platform } from "../platform/platform.js";
import type { Extension } from "../protocol/extension.js";
import type { Implementation } from "../protocol/implementation.js";
import type { Revision } from "../protocol/revisions.js";
import type { JsonSchemaAdapter } from "../schema/standard.js";

/** Who a server is, as clients are told. */
export interface ServerInfo extends Implementation {}

/** Bounds of a server; each has a default and is named by the error that it causes. */
export interface ServerLimits {
  /** How long a client may take to answer questions, in milliseconds. */
  stateMs: number;
  /** Size of all answers and steps of one call. */
  stateBytes: number;
  /** Rounds of questions in one call. */
  rounds: number;
  /** Questions in one round. */
  questions: number;
}

export const DEFAULT_LIMITS: ServerLimits = { stateMs: 600_000, stateBytes: 256 * 1024, rounds: 32, questions: 32 };

/** What can be chosen about a server. */
export interface ServerOptions {
  /** How to use the server, for the model. */
  instructions?: string;
  /** Revisions to speak; all by default. */
  revisions?: readonly Revision[];
  /**
   * Seals question state, cursors and event ids; several for rotation, the first one seals. Without it a random one is
   * made per process, so a retry that reaches another process is refused.
   */
  secret?: string | readonly string[];
  limits?: Partial<ServerLimits>;
  /** Converts schemas of libraries that cannot do it themselves, for example valibot's `toJsonSchema`. */
  toJsonSchema?: JsonSchemaAdapter;
  /** Items in one page of a list; without it a list is one page. */
  pageSize?: number;
  /** How long clients may keep lists and resources. Default: not at all, and for nobody else. */
  cache?: Partial<CacheHint>;
  /** Hide what unexpected errors say behind a fixed text and an id. */
  maskErrors?: boolean;
  /** What happens to arguments that do not fit the schema: told to the model (default), or refused as -32602. */
  invalidArguments?: "result" | "protocol";
  /** Declare `logging` and send what handlers log. Default: true. */
  logging?: boolean;
  extensions?: readonly Extension[];
  platform?: Partial<Platform>;
}
