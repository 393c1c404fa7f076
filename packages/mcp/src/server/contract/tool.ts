import type { ClientCapabilityPath } from "../../protocol/capabilities.js";
import type { UiCsp, UiPermission, UiVisibility } from "../../protocol/features/apps.js";
import type { Block, ToolResult } from "../../protocol/features/block.js";
import type { ContentBlock } from "../../protocol/features/content.js";
import type { ToolAnnotations } from "../../protocol/features/tools.js";
import type { Icon } from "../../protocol/implementation.js";
import type { ToolMode } from "../../protocol/tool-mode.js";
import type { AnySchema, CheckedTool, InferInput, InferOutput } from "../../schema/standard.js";
import type { HandlerContext } from "./context.js";
import type { VisibleTo } from "./offer-options.js";
import type { ToolRate } from "./quota-options.js";

/**
 * Describes a tool to clients, and sets how the server runs its calls. `I` is the type of the input schema, `O` that of
 * the output schema.
 */
export interface ToolDefinition<
  I extends AnySchema | undefined = undefined,
  O extends AnySchema | undefined = undefined,
> extends ToolPolicy {
  /** A display name for users. */
  title?: string | undefined;
  /** A description for the model: what the tool does and when to use it. */
  description?: string | undefined;
  /** Schema of the arguments. Its type must be an object. Default: the tool takes no arguments. */
  input?: I | undefined;
  /**
   * Schema of the structured result. With it, the handler returns the structured content. Default: no structured
   * content.
   */
  output?: O | undefined;
  /** Hints about the tool's behaviour. Clients treat them as untrusted, so they do not protect anything. */
  annotations?: ToolAnnotations | undefined;
  /** Icons that clients may show beside the name. Default: none. */
  icons?: Icon[] | undefined;
  /**
   * Additional metadata for programs, sent to clients unchanged. Start the keys with a prefix of your own, such as
   * `com.example/`.
   */
  _meta?: Record<string, unknown> | undefined;
  /**
   * Returns true if a caller sees the tool. For all other callers it is neither listed nor callable. Default: every
   * caller sees it.
   */
  visibleTo?: VisibleTo | undefined;
  /**
   * Client capabilities that the tool needs, for example `elicitation.form`. The server refuses calls from other
   * clients. Default: none.
   */
  requires?: readonly ClientCapabilityPath[] | undefined;
  /**
   * Scopes that the caller must have. Over HTTP a caller without authorization has none. On other transports a caller
   * without authorization is not checked.
   */
  scopes?: readonly string[] | undefined;
  /**
   * Maximum number of calls to this tool that run at the same time. Further calls wait in a bounded queue. Default:
   * only the server's `limits.calls`.
   */
  concurrency?: number | undefined;
  /**
   * Maximum number of calls to this tool that may start within a period. Needs `quotas` of `@parley/mcp/limits`.
   * Default: no limit.
   */
  rate?: ToolRate | undefined;
  /**
   * Runs calls as tasks, which outlive the request. Needs the extension of `@parley/mcp/tasks`. Default: calls
   * do not run as tasks.
   */
  task?: TaskSupport | TaskPolicy | undefined;
  /**
   * `stateless` promises that the tool stores nothing between calls and asks the client no questions. Clients read it
   * in the tool's `_meta`, and a server with `sessions: "auto"` opens no session while all of its tools are stateless.
   * Default: `stateful`, which is not sent to clients.
   */
  mode?: ToolMode | undefined;
  /** The page that shows the results, or its `ui://` URI. Needs the extension of `@parley/mcp/apps`. Default: none. */
  ui?: string | ToolUi | undefined;
}

/** The arguments that the handler receives, parsed by the schema. */
export type ToolArguments<I> = I extends AnySchema ? InferOutput<I> : Record<string, never>;

/** The values that a handler without `output` may return. No value at all means a result without content. */
export type LooseResult =
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is what most people write
  void | string | number | boolean | null | undefined | Block | readonly Block[] | ToolResult<unknown> | JsonLike;

/**
 * Objects except functions, maps, sets and bytes, which JSON cannot represent. The members of an object are only
 * checked at run time.
 */
type JsonLike =
  | (object & { readonly [Symbol.hasInstance]?: never; readonly [Symbol.toStringTag]?: never })
  | { toJSON(): unknown };

/**
 * Runs a tool, given its arguments and the context of the call. With `output` it returns the structured result,
 * otherwise text, content blocks or any JSON value.
 */
// Conditional on purpose: with a plain function type, enums and unions in `output` widen to `string`. `Promise` is
// listed beside `PromiseLike` because it shortens the compiler's message about the result of an async handler.
export type ToolHandler<I, O, D = Record<string, unknown>> = [O] extends [undefined]
  ? (args: ToolArguments<I>, ctx: HandlerContext<D>) => LooseResult | Promise<LooseResult> | PromiseLike<LooseResult>
  : (
      args: ToolArguments<I>,
      ctx: HandlerContext<D>,
    ) => InferInput<O> | ToolResult<InferInput<O>> | Promise<InferInput<O> | ToolResult<InferInput<O>>>;

/** The types of a tool as a typed client sees it. */
export interface ToolTypes<A = unknown, R = unknown> {
  /** The arguments that a client passes. */
  args: A;
  /** The result that a client gets. */
  result: R;
}

/** The arguments that a client passes for an input schema. */
export type ClientArguments<I> = I extends AnySchema ? InferInput<I> : Record<string, never>;

/** The result that a client gets: the type of the output schema, or text if there is none. */
export type ClientResult<O> = O extends AnySchema ? InferOutput<O> : string;

/**
 * A tool as a value, to register with `server.add`. `N` is the type of its name, `A` that of its arguments, `R` that of
 * its result.
 */
export interface ToolOffer<N extends string = string, A = unknown, R = unknown> {
  /** Distinguishes tools from other offers. */
  readonly kind: "tool";
  /** The name by which clients call the tool. */
  readonly name: N;
  /** The description that clients get, and the options of the tool. */
  readonly definition: AnyToolDefinition;
  /** The function that runs the tool. */
  readonly handler: AnyToolHandler;
  /** Only for type inference; never present at run time. */
  readonly types?: ToolTypes<A, R>;
}

type AnyToolDefinition = ToolDefinition<AnySchema | undefined, AnySchema | undefined>;

// The schema checks the arguments before the handler gets them, so the erased type is sound.
export type AnyToolHandler = (args: never, ctx: HandlerContext<never>) => unknown;

/**
 * Defines a tool as a value, for `server.add`. With more than about 50 tools, values keep type checking in editors
 * faster than chained `server.tool` calls.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/tools.md | Tools}
 */
export function tool<const N extends string>(
  name: N,
  handler: ToolHandler<undefined, undefined>,
): ToolOffer<N, ClientArguments<undefined>, ClientResult<undefined>>;
export function tool<
  const N extends string,
  const I extends AnySchema | undefined = undefined,
  const O extends AnySchema | undefined = undefined,
>(
  name: N,
  definition: ToolDefinition<I, O> & CheckedTool<I, O>,
  handler: ToolHandler<NoInfer<I>, NoInfer<O>>,
): ToolOffer<N, ClientArguments<I>, ClientResult<O>>;
export function tool(
  name: string,
  definition: AnyToolDefinition | AnyToolHandler,
  handler?: AnyToolHandler,
): ToolOffer {
  return typeof definition === "function"
    ? { kind: "tool", name, definition: {}, handler: definition }
    : // Programs without type checks may omit the handler. Registration then throws.
      { kind: "tool", name, definition, handler: handler as AnyToolHandler };
}

const TOOL_ERROR = Symbol.for("@parley/mcp/tool-error");

/**
 * An error for the model. If a tool throws it, the model gets its message or content unchanged, even with `maskErrors`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/tools.md | Tools}
 */
export class ToolError extends Error {
  /** Always `ToolError`. */
  override readonly name = "ToolError";
  /** The content blocks that the model gets instead of the message. Undefined if the model gets the message. */
  readonly content: readonly ContentBlock[] | undefined;

  /**
   * Creates an error with a message for the model. `content` replaces the message in the result. `cause` is not sent.
   */
  constructor(message: string, options: { content?: readonly ContentBlock[] | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.content = options.content;
    Object.defineProperty(this, TOOL_ERROR, { value: true });
  }

  /** True if the value is a `ToolError` of any copy of this package. */
  static is(value: unknown): value is ToolError {
    return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[TOOL_ERROR] === true;
  }
}

/**
 * Task support of a tool. `optional`: calls run as tasks if the client supports tasks. `required`: calls from clients
 * without tasks are refused. `never`: calls never run as tasks.
 */
export type TaskSupport = "optional" | "required" | "never";

/**
 * Options of a tool that runs as a task.
 *
 * If processes share a `storage`, a task outlives its process: another process runs the handler again from the
 * beginning, and finished steps and answered questions resolve with their stored values. A finished step does not run
 * again, but the work between steps may be repeated. A task that has ended does not change any more. When a task
 * expires, `ctx.signal` aborts its handler.
 */
export interface TaskPolicy {
  /** Task support of the tool. With `required`, the server refuses calls from clients without tasks. */
  support: TaskSupport;
  /**
   * The start of the task: `call` starts it with the call, `handler` when the handler calls `ctx.startTask()`.
   * Questions before that point are part of the call. Default: `call`.
   */
  begin?: "call" | "handler" | undefined;
  /**
   * Time in milliseconds for which the task and its result are stored, counted from the creation of the task. Default:
   * `ttlMs` of the extension.
   */
  ttlMs?: number | undefined;
  /** Time in milliseconds that clients should wait between two polls. Default: `pollIntervalMs` of the extension. */
  pollIntervalMs?: number | undefined;
  /**
   * Maximum number of restarts of the handler if its process ends during a step, or before the first step has finished.
   * An interrupted step runs again. Default: 0, because the interrupted work may already be done; the task then fails
   * with an explanation. If the process ended between steps, after a finished step or an answered question, the task
   * always continues, unless ten processes in a row ended without progress.
   */
  retry?: number | undefined;
}

/** The page that shows a tool and its results in hosts that support MCP Apps. */
export interface ToolUi {
  /** The URI of the page, `ui://…`. */
  uri: string;
  /**
   * The page itself, as HTML. Every caller that sees the tool may read it. Default: the page is a resource of the
   * server with this URI, or another tool defines the page.
   */
  html?: string | (() => string | Promise<string>) | undefined;
  /** The allowed callers of the tool: the model, the page, or both. Default: both. */
  visibility?: readonly UiVisibility[] | undefined;
  /** The network origins that the page may reach. Default: none. */
  csp?: UiCsp | undefined;
  /** Browser features that the page may use, if the host agrees. Default: none. */
  permissions?: readonly UiPermission[] | undefined;
  /**
   * The host name that the host should serve the page from. Each host has its own rules for it. Default: the host
   * decides.
   */
  domain?: string | undefined;
  /** True if the host should draw a border around the page. Default: the host decides. */
  prefersBorder?: boolean | undefined;
}

/** Options for the calls of a tool. A tool's own value overrides the one in the server's option `tools`. */
export interface ToolPolicy {
  /**
   * True if the library converts arguments sent as text (`"5"`, `"[1,2]"`) to the type in the schema, and lists them in
   * `ctx.coercions`. Default: true, because models often send numbers and lists as text.
   */
  coerce?: boolean | undefined;
  /**
   * Treatment of arguments that the schema does not name. `report` refuses all of them if the schema is closed, and
   * otherwise only names that look like a misspelling of a missing argument. `ignore` drops those that a closed schema
   * would refuse, and does not search for misspellings. Default: `report`.
   */
  unknownArguments?: "report" | "ignore" | undefined;
  /**
   * Time limit of the handler in milliseconds, not counting the time that it waits for the client's answers. Default:
   * no limit.
   */
  timeoutMs?: number | undefined;
  /** Maximum size in bytes of the result as JSON. At least 1024. Default: no limit. */
  maxResultBytes?: number | undefined;
  /**
   * Treatment of a result larger than `maxResultBytes`: `truncate` cuts it, `link` stores it for `resources/read` and
   * sends a link. Default: `truncate`.
   */
  overflow?: "truncate" | "link" | undefined;
}
