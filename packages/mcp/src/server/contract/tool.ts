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

/** Describes a tool to clients, and sets how its calls are treated. */
export interface ToolDefinition<
  I extends AnySchema | undefined = undefined,
  O extends AnySchema | undefined = undefined,
> extends ToolPolicy {
  /** A display name for users. */
  title?: string | undefined;
  /** For the model: what the tool does and when to use it. */
  description?: string | undefined;
  /** Schema of the arguments; its type must be an object. Default: the tool takes no arguments. */
  input?: I | undefined;
  /** Schema of the structured result. With it, the handler's return value always is the structured content. */
  output?: O | undefined;
  /** Hints about the tool's behaviour. Clients treat them as untrusted, so they are no protection. */
  annotations?: ToolAnnotations | undefined;
  /** Icons that clients may show beside the name. Default: none. */
  icons?: Icon[] | undefined;
  /** More members for programs, under names with a prefix of their own; sent to clients unchanged. */
  _meta?: Record<string, unknown> | undefined;
  /** Decides whether a caller sees the tool. For other callers it is neither listed nor callable. Default: all see it. */
  visibleTo?: VisibleTo | undefined;
  /** Client capabilities that the tool needs, for example `elicitation.form`. Calls from other clients are refused. */
  requires?: readonly ClientCapabilityPath[] | undefined;
  /** Scopes that the caller must have. Over HTTP a caller without authorization has none; on a pipe it is not checked. */
  scopes?: readonly string[] | undefined;
  /** How many calls of this tool run at once; more wait in a bounded queue. Default: only the server's `limits.calls`. */
  concurrency?: number | undefined;
  /** How many calls of this tool may begin in a time. Needs `quotas` of `@parley/mcp/limits`. Default: any number. */
  rate?: ToolRate | undefined;
  /** Whether calls run as tasks, which outlive the request. Needs the extension of `@parley/mcp/tasks`. Default: they do not. */
  task?: TaskSupport | TaskPolicy | undefined;
  /**
   * `stateless`: keeps nothing between calls and asks the client for nothing. Clients read it in the tool's `_meta`, and a server
   * with `sessions: "auto"` opens no session while all of its tools are. Default: `stateful`, of which clients are told nothing.
   */
  mode?: ToolMode | undefined;
  /** The page that shows the results, or its `ui://` address. Needs the extension of `@parley/mcp/apps`. Default: none. */
  ui?: string | ToolUi | undefined;
}

/** The arguments as the handler receives them. */
export type ToolArguments<I> = I extends AnySchema ? InferOutput<I> : Record<string, never>;

/** What a handler without `output` may return; nothing at all is a result without content. */
export type LooseResult =
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is what most people write
  void | string | number | boolean | null | undefined | Block | readonly Block[] | ToolResult<unknown> | JsonLike;

/** Objects other than functions, maps, sets and bytes, which JSON cannot hold. Their members are checked at run time only. */
type JsonLike =
  | (object & { readonly [Symbol.hasInstance]?: never; readonly [Symbol.toStringTag]?: never })
  | { toJSON(): unknown };

/** Runs a tool. With `output` it returns the structured result, otherwise text, content blocks or any JSON value. */
// Conditional on purpose: with a plain function type, enums and unions in `output` widen to `string`. `Promise` stands beside
// `PromiseLike` because the compiler then says shortly what is wrong with the result of an async handler.
export type ToolHandler<I, O, D = Record<string, unknown>> = [O] extends [undefined]
  ? (args: ToolArguments<I>, ctx: HandlerContext<D>) => LooseResult | Promise<LooseResult> | PromiseLike<LooseResult>
  : (
      args: ToolArguments<I>,
      ctx: HandlerContext<D>,
    ) => InferInput<O> | ToolResult<InferInput<O>> | Promise<InferInput<O> | ToolResult<InferInput<O>>>;

/** The types of a tool: the arguments that a client passes, and the result that it gets. */
export interface ToolTypes<A = unknown, R = unknown> {
  args: A;
  result: R;
}

/** What a client passes for an input schema. */
export type ClientArguments<I> = I extends AnySchema ? InferInput<I> : Record<string, never>;

/** What a client gets: the type of the output schema, or text without one. */
export type ClientResult<O> = O extends AnySchema ? InferOutput<O> : string;

/** A tool as a value, to be registered with `server.add`. */
export interface ToolOffer<N extends string = string, A = unknown, R = unknown> {
  readonly kind: "tool";
  readonly name: N;
  readonly definition: AnyToolDefinition;
  readonly handler: AnyToolHandler;
  /** Types only; never present at run time. */
  readonly types?: ToolTypes<A, R>;
}

type AnyToolDefinition = ToolDefinition<AnySchema | undefined, AnySchema | undefined>;

// The schema checks the arguments before the handler gets them, so the erased type is sound.
export type AnyToolHandler = (args: never, ctx: HandlerContext<never>) => unknown;

/** Defines a tool as a value, for `server.add`. With more than about 50 tools, this keeps type checking in editors fast. */
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
    : // Programs without types may forget the handler; registration says so.
      { kind: "tool", name, definition, handler: handler as AnyToolHandler };
}

const TOOL_ERROR = Symbol.for("@parley/mcp/tool-error");

/** An error for the model: throw it in a tool, and the model gets its message or content unchanged, even with `maskErrors`. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly content: readonly ContentBlock[] | undefined;

  constructor(message: string, options: { content?: readonly ContentBlock[] | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.content = options.content;
    Object.defineProperty(this, TOOL_ERROR, { value: true });
  }

  /** True for a `ToolError` of any copy of this package. */
  static is(value: unknown): value is ToolError {
    return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[TOOL_ERROR] === true;
  }
}

/** Whether a tool runs as a task: where the client can take one, always, or never. */
export type TaskSupport = "optional" | "required" | "never";

/**
 * How a tool runs as a task.
 *
 * With a `storage` that processes share, a task outlives its process: another one runs the handler again from its beginning, where
 * finished steps and answered questions resolve with what is stored. A step runs at most once, and the work between steps may be
 * repeated. A task that ended stays as it ended, and one that expires ends its handler by `ctx.signal`.
 */
export interface TaskPolicy {
  /** Where the client can take a task, or always: calls of other clients are then refused. */
  support: TaskSupport;
  /**
   * When the task begins: with the call, or when the handler calls `ctx.startTask()`. Questions before that are part of the
   * call. Default: `call`.
   */
  begin?: "call" | "handler" | undefined;
  /** Milliseconds from its creation that the task and its result are kept. Default: that of the extension. */
  ttlMs?: number | undefined;
  /** Milliseconds that clients should wait between two looks at it. Default: that of the extension. */
  pollIntervalMs?: number | undefined;
  /**
   * How often the handler may begin again after its process ended before the first step was done or in the middle of a step, which
   * then runs once more. Default: 0, because such work may have been done; the task fails and says so. After a finished step or a
   * question it goes on without that, unless ten processes in a row ended with it and it got no further.
   */
  retry?: number | undefined;
}

/** The page that shows a tool and its results in hosts with MCP Apps. */
export interface ToolUi {
  /** The address of the page, `ui://…`. */
  uri: string;
  /**
   * The page itself, as HTML; whoever sees the tool may read it. Default: the server has a resource with this address, or
   * another tool brings the page.
   */
  html?: string | (() => string | Promise<string>) | undefined;
  /** Who may call the tool: the model, the page, or both. Default: both. */
  visibility?: readonly UiVisibility[] | undefined;
  /** What the page may reach. Default: nothing outside of it. */
  csp?: UiCsp | undefined;
  /** What the page may use of the browser, if the host agrees. Default: nothing. */
  permissions?: readonly UiPermission[] | undefined;
  /** The host name that the host should give the page; each host has its own rules for it. Default: the host decides. */
  domain?: string | undefined;
  /** Whether the host should draw a border. Default: the host decides. */
  prefersBorder?: boolean | undefined;
}

/** How calls of a tool are treated. A tool's own value replaces the one in the server's option `tools`. */
export interface ToolPolicy {
  /**
   * Converts arguments that came as text (`"5"`, `"[1,2]"`) to the type in the schema, and lists them in `ctx.coercions`.
   * Default: true, because models often send numbers and lists as text.
   */
  coerce?: boolean | undefined;
  /**
   * Whether arguments that the schema does not have are reported to the model or ignored. Default: `"report"`, which refuses
   * what a closed schema refuses, and otherwise only what looks like a misspelling of an argument that is absent.
   */
  unknownArguments?: "report" | "ignore" | undefined;
  /** Milliseconds that the handler may run, not counting the time it waits for answers of the client. Default: no limit. */
  timeoutMs?: number | undefined;
  /** Largest size of the result as JSON, in bytes; at least 1024. Default: no limit. */
  maxResultBytes?: number | undefined;
  /** What happens to a larger result: it is cut, or stored for `resources/read` and linked. Default: `"truncate"`. */
  overflow?: "truncate" | "link" | undefined;
}
