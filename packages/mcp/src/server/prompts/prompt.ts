import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ContentBlock, Role } from "../../protocol/features/content.js";
import type { Icon } from "../../protocol/implementation.js";
import type { JsonSchemaObject } from "../../schema/json-schema.js";
import type { InferInput, InferOutput } from "../../schema/standard.js";
import type { HandlerContext } from "../context.js";
import type { VisibleTo } from "../lists/catalogue.js";
import type { Completer } from "../lists/completion.js";

/** One argument of a prompt. Its value is a string. `Q` says whether it must be given. */
export interface PromptArgumentDefinition<Q = unknown> {
  /** A name for people. */
  title?: string | undefined;
  description?: string | undefined;
  /** Default: false. */
  required?: (Q & boolean) | undefined;
  complete?: Completer | undefined;
}

/** Arguments by name; `R` says of each whether it must be given. */
export type NamedArguments<R> = { readonly [K in keyof R]: PromptArgumentDefinition<R[K]> };

/**
 * A schema of arguments: an object whose members are strings on the wire. Narrower than schemas elsewhere, so that the
 * compiler cannot mistake arguments by name for a schema.
 */
export type PromptSchema = StandardSchemaV1 | (JsonSchemaObject & { readonly type: "object" });

/** Arguments by name, or as a schema. */
export type PromptArguments = PromptSchema | NamedArguments<Record<string, unknown>>;

/** What a prompt says of itself. `A` are its arguments. */
export interface PromptDefinition<A = undefined> {
  /** A name for people. */
  title?: string | undefined;
  /** For people: what the prompt is for. */
  description?: string | undefined;
  /** What the user fills in. Without it the prompt takes what its template names, or nothing. */
  arguments?: A | undefined;
  /** Completes arguments for the user, by name. A closed set in a schema is completed without it. */
  complete?: { readonly [name: string]: Completer } | undefined;
  icons?: Icon[] | undefined;
  _meta?: Record<string, unknown> | undefined;
  /** Whether this caller may know of the prompt. To others it does not exist. */
  visibleTo?: VisibleTo | undefined;
}

/** Named arguments as the handler receives them. */
export type NamedValues<R> = { [K in keyof R as R[K] extends true ? K : never]: string } & {
  [K in keyof R as R[K] extends true ? never : K]?: string;
};

/** What a message holds: text, or a block of any kind. */
export type MessageContent = string | ContentBlock;

/** One message; several blocks become several messages, because a message of a prompt holds one. */
export interface LooseMessage {
  role: Role;
  content: MessageContent | readonly MessageContent[];
}

/** What a handler returns: text and blocks are messages of the user. */
export type PromptReturn =
  | MessageContent
  | LooseMessage
  | readonly (MessageContent | LooseMessage)[]
  | { messages: readonly (MessageContent | LooseMessage)[]; description?: string; _meta?: Record<string, unknown> };

/** Makes the messages of a prompt. */
export type PromptHandler<V, D = Record<string, unknown>> = (
  args: V,
  ctx: HandlerContext<D>,
) => PromptReturn | Promise<PromptReturn>;

// The arguments are checked before the handler sees them, so the erased type is sound.
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

/** Defines a prompt that lives in a file of its own. */
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
