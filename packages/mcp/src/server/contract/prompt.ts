import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ContentBlock, Role } from "../../protocol/features/content.js";
import type { Icon } from "../../protocol/implementation.js";
import type { JsonSchemaObject } from "../../schema/json-schema/json-schema.js";
import type { InferInput, InferOutput } from "../../schema/standard.js";
import type { HandlerContext } from "./context.js";
import type { Completer, VisibleTo } from "./offer-options.js";

/** Describes one argument of a prompt. Its value is a string. `Q` is the type of `required`. */
export interface PromptArgumentDefinition<Q = unknown> {
  /** A display name for users. */
  title?: string | undefined;
  /** A description for users: what to fill in. */
  description?: string | undefined;
  /** True if the user must fill in the argument. Default: false. */
  required?: (Q & boolean) | undefined;
  /** Suggests values for the text that the user has typed. Default: no suggestions. */
  complete?: Completer | undefined;
}

/** Arguments by name. `R` holds the type of `required` for each argument. */
export type NamedArguments<R> = { readonly [K in keyof R]: PromptArgumentDefinition<R[K]> };

/**
 * A schema of all arguments: an object whose members are strings on the wire. Narrower than other schemas, so that the
 * compiler does not mistake arguments by name for a schema.
 */
export type PromptSchema = StandardSchemaV1 | (JsonSchemaObject & { readonly type: "object" });

/** Arguments by name, or one schema for all of them. */
export type PromptArguments = PromptSchema | NamedArguments<Record<string, unknown>>;

/** Describes a prompt to clients. `A` is the type of its arguments. */
export interface PromptDefinition<A = undefined> {
  /** A display name for users. */
  title?: string | undefined;
  /** A description for users: the purpose of the prompt. */
  description?: string | undefined;
  /**
   * The arguments that the user fills in. Default: the placeholders if the handler is a template, otherwise no
   * arguments.
   */
  arguments?: A | undefined;
  /** Completers by argument name. Default: the values of an enum in the schema. */
  complete?: { readonly [name: string]: Completer } | undefined;
  /** Icons that clients may show beside the name. Default: none. */
  icons?: Icon[] | undefined;
  /**
   * Additional metadata for programs, sent to clients unchanged. Start the keys with a prefix of your own, such as
   * `com.example/`.
   */
  _meta?: Record<string, unknown> | undefined;
  /**
   * Returns true if a caller sees the prompt. For all other callers it is neither listed nor usable. Default: every
   * caller sees it.
   */
  visibleTo?: VisibleTo | undefined;
  /**
   * Scopes that the caller must have. Over HTTP a caller without authorization has none. On other transports a caller
   * without authorization is not checked.
   */
  scopes?: readonly string[] | undefined;
}

/** Named arguments as the handler receives them: strings, optional unless `required` is true. */
export type NamedValues<R> = { [K in keyof R as R[K] extends true ? K : never]: string } & {
  [K in keyof R as R[K] extends true ? never : K]?: string;
} extends infer V
  ? { [K in keyof V]: V[K] }
  : never;

/** The content of a message: text, or a content block of any type. */
export type MessageContent = string | ContentBlock;

/**
 * A message of a prompt. Several content blocks become several messages, because a prompt message has only one block.
 *
 * Spec: Prompts, "PromptMessage", https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#promptmessage
 */
export interface LooseMessage {
  /** The speaker of the message: `user` or `assistant`. */
  role: Role;
  /** One text or content block, or several. */
  content: MessageContent | readonly MessageContent[];
}

/** The value that a prompt handler returns. Text and content blocks become messages of the user. */
export type PromptReturn =
  | MessageContent
  | LooseMessage
  | readonly (MessageContent | LooseMessage)[]
  | { messages: readonly (MessageContent | LooseMessage)[]; description?: string; _meta?: Record<string, unknown> };

/** Returns the messages of a prompt, given its arguments and the context of the call. */
export type PromptHandler<V, D = Record<string, unknown>> = (
  args: V,
  ctx: HandlerContext<D>,
) => PromptReturn | Promise<PromptReturn>;

// The library checks the arguments before it calls the handler, so the erased type is sound.
type AnyPromptHandler = (args: never, ctx: HandlerContext<never>) => PromptReturn | Promise<PromptReturn>;

/** A prompt as a value, to register with `server.add`. `N` is the type of its name, `A` that of its arguments. */
export interface PromptOffer<N extends string = string, A = unknown> {
  /** Distinguishes prompts from other offers. */
  readonly kind: "prompt";
  /** The name by which clients ask for the prompt. */
  readonly name: N;
  /** The description that clients get, and the options of the prompt. */
  readonly definition: PromptDefinition<PromptArguments>;
  /** The function that returns the messages. */
  readonly handler: AnyPromptHandler;
  /** Only for type inference; never present at run time. */
  readonly types?: { args: A };
}

/**
 * The arguments that a client passes to a prompt with named arguments. Any name is allowed if the prompt declares no
 * arguments itself, as with a template.
 */
export type ClientNamedArguments<R> = unknown extends R ? { [name: string]: string } : NamedValues<R>;

/** The arguments that a client passes to a prompt with a schema: a string for each member. */
export type ClientSchemaArguments<S> = { [K in keyof InferInput<S>]: string };

/**
 * Defines a prompt as a value, for `server.add`. Its arguments are defined by name or by one schema.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function prompt<const N extends string, const R>(
  name: N,
  definition: PromptDefinition<NamedArguments<R>>,
  handler: PromptHandler<NamedValues<NoInfer<R>>>,
): PromptOffer<N, ClientNamedArguments<R>>;
export function prompt<const N extends string, const S extends PromptSchema>(
  name: N,
  definition: PromptDefinition<S>,
  handler: PromptHandler<InferOutput<NoInfer<S>>>,
): PromptOffer<N, ClientSchemaArguments<S>>;
export function prompt(
  name: string,
  definition: PromptDefinition<PromptArguments>,
  handler: AnyPromptHandler,
): PromptOffer {
  return { kind: "prompt", name, definition, handler };
}
