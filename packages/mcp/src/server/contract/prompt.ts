import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ContentBlock, Role } from "../../protocol/features/content.js";
import type { Icon } from "../../protocol/implementation.js";
import type { JsonSchemaObject } from "../../schema/json-schema/json-schema.js";
import type { InferInput, InferOutput } from "../../schema/standard.js";
import type { HandlerContext } from "./context.js";
import type { Completer, VisibleTo } from "./offer-options.js";

/** Describes one argument of a prompt; its value is a string. `Q` is the type of `required`. */
export interface PromptArgumentDefinition<Q = unknown> {
  /** A display name for users. */
  title?: string | undefined;
  /** For users: what to fill in. */
  description?: string | undefined;
  /** Whether the user must fill it in. Default: false. */
  required?: (Q & boolean) | undefined;
  /** Suggests values for what the user has typed. Default: no suggestions. */
  complete?: Completer | undefined;
}

/** Arguments by name; `R` has the type of `required` for each. */
export type NamedArguments<R> = { readonly [K in keyof R]: PromptArgumentDefinition<R[K]> };

/**
 * A schema of arguments: an object whose members are strings on the wire. Narrower than other schemas, so that the compiler
 * does not take arguments by name for a schema.
 */
export type PromptSchema = StandardSchemaV1 | (JsonSchemaObject & { readonly type: "object" });

/** Arguments by name, or as a schema. */
export type PromptArguments = PromptSchema | NamedArguments<Record<string, unknown>>;

/** Describes a prompt to clients. `A` is the type of its arguments. */
export interface PromptDefinition<A = undefined> {
  /** A display name for users. */
  title?: string | undefined;
  /** For users: what the prompt is for. */
  description?: string | undefined;
  /** What the user fills in. Default: the placeholders if the handler is a template, otherwise no arguments. */
  arguments?: A | undefined;
  /** Completes arguments for the user, by name. Default: the values of an enum in the schema. */
  complete?: { readonly [name: string]: Completer } | undefined;
  /** Icons that clients may show beside the name. Default: none. */
  icons?: Icon[] | undefined;
  /** More members for programs, under names with a prefix of their own; sent to clients unchanged. */
  _meta?: Record<string, unknown> | undefined;
  /** Decides whether a caller sees the prompt. For other callers it is neither listed nor usable. Default: all see it. */
  visibleTo?: VisibleTo | undefined;
  /** Scopes that the caller must have. Over HTTP a caller without authorization has none; on a pipe it is not checked. */
  scopes?: readonly string[] | undefined;
}

/** Named arguments as the handler receives them. */
export type NamedValues<R> = { [K in keyof R as R[K] extends true ? K : never]: string } & {
  [K in keyof R as R[K] extends true ? never : K]?: string;
} extends infer V
  ? { [K in keyof V]: V[K] }
  : never;

/** The content of a message: text, or a content block of any type. */
export type MessageContent = string | ContentBlock;

/**
 * A message. Several blocks become several messages, because a message of a prompt has one block.
 *
 * Spec: Prompts, "PromptMessage", https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#promptmessage
 */
export interface LooseMessage {
  role: Role;
  content: MessageContent | readonly MessageContent[];
}

/** What a prompt handler returns. Text and content blocks become messages with the role of the user. */
export type PromptReturn =
  | MessageContent
  | LooseMessage
  | readonly (MessageContent | LooseMessage)[]
  | { messages: readonly (MessageContent | LooseMessage)[]; description?: string; _meta?: Record<string, unknown> };

/** Returns the messages of a prompt. */
export type PromptHandler<V, D = Record<string, unknown>> = (
  args: V,
  ctx: HandlerContext<D>,
) => PromptReturn | Promise<PromptReturn>;

// The arguments are checked before the handler gets them, so the erased type is sound.
type AnyPromptHandler = (args: never, ctx: HandlerContext<never>) => PromptReturn | Promise<PromptReturn>;

/** A prompt as a value, to be registered with `server.add`. */
export interface PromptOffer<N extends string = string, A = unknown> {
  readonly kind: "prompt";
  readonly name: N;
  readonly definition: PromptDefinition<PromptArguments>;
  readonly handler: AnyPromptHandler;
  /** Types only; never present. */
  readonly types?: { args: A };
}

/** What a client passes for arguments by name; anything where the prompt names none itself, as a template does. */
export type ClientNamedArguments<R> = unknown extends R ? { [name: string]: string } : NamedValues<R>;

/** What a client passes for a schema of arguments: a string for each member. */
export type ClientSchemaArguments<S> = { [K in keyof InferInput<S>]: string };

/** Defines a prompt as a value, for `server.add`. */
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
