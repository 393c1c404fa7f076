import type { ClientCapabilityPath } from "../../protocol/capabilities.js";
import type { ContentBlock } from "../../protocol/features/content.js";
import type { ToolAnnotations } from "../../protocol/features/tools.js";
import type { Icon } from "../../protocol/implementation.js";
import type { AnySchema, InferInput, InferOutput } from "../../schema/standard.js";
import type { HandlerContext } from "../context.js";
import type { VisibleTo } from "../lists/catalogue.js";
import type { Block, ToolResult } from "./marked-content.js";
import type { ToolPolicy } from "./tool-policy.js";

/** What a tool says of itself and how its calls are treated. */
export interface ToolDefinition<
  I extends AnySchema | undefined = undefined,
  O extends AnySchema | undefined = undefined,
> extends ToolPolicy {
  /** A name for people. */
  title?: string | undefined;
  /** For the model: what the tool does and when to use it. */
  description?: string | undefined;
  /** Schema of the arguments: an object. Without it the tool takes none. */
  input?: I | undefined;
  /** Schema of the structured result. With it, what the handler returns is always the structured content. */
  output?: O | undefined;
  /** Hints about behaviour. Clients must not trust them, so they protect nothing. */
  annotations?: ToolAnnotations | undefined;
  icons?: Icon[] | undefined;
  _meta?: Record<string, unknown> | undefined;
  /** Whether this caller may know of the tool. To others it does not exist, neither in lists nor in calls. */
  visibleTo?: VisibleTo | undefined;
  /** What the client must be able to do, for example `elicitation.form`; a call of any other client never reaches the handler. */
  requires?: readonly ClientCapabilityPath[] | undefined;
  /** Scopes that an authorized caller must have. A pipe without authorization has none to check. */
  scopes?: readonly string[] | undefined;
  /** Calls of this tool at the same time; more wait in a bounded queue. Default: only the server's own limit. */
  concurrency?: number | undefined;
}

/** The arguments as the handler receives them. */
export type ToolArguments<I> = I extends AnySchema ? InferOutput<I> : Record<string, never>;

/** What a handler without `output` may return. */
export type LooseResult =
  | string
  | number
  | boolean
  | null
  | undefined
  | Block
  | readonly Block[]
  | ToolResult<unknown>
  | object;

/** Runs a tool. With `output` it returns the structured result, otherwise what it means. */
// Conditional on purpose: with a plain function type, enums and unions in `output` widen to `string`.
export type ToolHandler<I, O, D = Record<string, unknown>> = [O] extends [undefined]
  ? (args: ToolArguments<I>, ctx: HandlerContext<D>) => LooseResult | Promise<LooseResult>
  : (args: ToolArguments<I>, ctx: HandlerContext<D>) => Returned<O> | Promise<Returned<O>>;

type Returned<O> = InferInput<O> | ToolResult<InferInput<O>>;

/** A tool by its types alone: what a client may pass, and what it gets. */
export interface ToolTypes<A = unknown, R = unknown> {
  args: A;
  result: R;
}

/** What a client passes for an input schema. */
export type ClientArguments<I> = I extends AnySchema ? InferInput<I> : Record<string, never>;

/** What a client gets for an output schema; text without one. */
export type ClientResult<O> = O extends AnySchema ? InferOutput<O> : string;

/** A tool as a value, to be registered with `server.add`. */
export interface ToolOffer<N extends string = string, A = unknown, R = unknown> {
  readonly kind: "tool";
  readonly name: N;
  readonly definition: AnyToolDefinition;
  readonly handler: AnyToolHandler;
  /** Types only; never present. */
  readonly types?: ToolTypes<A, R>;
}

type AnyToolDefinition = ToolDefinition<AnySchema | undefined, AnySchema | undefined>;

// The schema has checked the arguments by the time the handler sees them, so the erased type is sound.
export type AnyToolHandler = (args: never, ctx: HandlerContext<never>) => unknown;

/** Defines a tool that lives in a file of its own; past about 50 tools this keeps editors fast. */
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
  definition: ToolDefinition<I, O>,
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

/** A failure that is meant for the model: its message, or its content, reaches the model as written. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly content: readonly ContentBlock[] | undefined;

  constructor(message: string, options: { content?: readonly ContentBlock[]; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.content = options.content;
    Object.defineProperty(this, TOOL_ERROR, { value: true });
  }

  /** True for a `ToolError` of any copy of this package. */
  static is(value: unknown): value is ToolError {
    return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[TOOL_ERROR] === true;
  }
}
