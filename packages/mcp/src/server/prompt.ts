import type { ContentBlock, Role } from "../protocol/content.js";
import type { Icon } from "../protocol/implementation.js";
import type { AnySchema, InferOutput } from "../schema/standard.js";
import type { Enabled } from "./catalogue.js";
import type { Completer } from "./completion.js";
import type { AskingContext } from "./context.js";

/** One argument of a prompt. Its value is a string. */
export interface PromptArgumentDefinition {
  /** A name for people. */
  title?: string;
  description?: string;
  /** Default: false. */
  required?: boolean;
  complete?: Completer;
}

/** Arguments by name, or a schema of an object: `string` members as a schema library or JSON Schema describes them. */
export type PromptArguments = AnySchema | { readonly [name: string]: PromptArgumentDefinition };

/** What a prompt says of itself. */
export interface PromptDefinition<A extends PromptArguments | undefined = undefined> {
  /** A name for people. */
  title?: string;
  /** For people: what the prompt is for. */
  description?: string;
  /** What the user fills in. Without it the prompt takes what its template names, or nothing. */
  arguments?: A;
  /** Completes arguments for the user, by name. A closed set in a schema is completed without it. */
  complete?: { readonly [name: string]: Completer };
  icons?: Icon[];
  _meta?: Record<string, unknown>;
  /** Whether this caller may know of the prompt. To others it does not exist. */
  enabled?: Enabled;
}

/** The arguments as the handler receives them. */
export type PromptValues<A> = A extends AnySchema
  ? A extends { readonly "~standard": unknown } | { readonly type: "object" }
    ? InferOutput<A>
    : NamedValues<A>
  : A extends undefined
    ? Record<string, never>
    : NamedValues<A>;

type NamedValues<A> = {
  [K in keyof A as A[K] extends { readonly required: true } ? K : never]: string;
} & { [K in keyof A as A[K] extends { readonly required: true } ? never : K]?: string };

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
export type PromptHandler<A> = (args: PromptValues<A>, ctx: AskingContext) => PromptReturn | Promise<PromptReturn>;

// The arguments are checked before the handler sees them, so the erased type is sound.
type AnyPromptHandler = (args: never, ctx: AskingContext) => PromptReturn | Promise<PromptReturn>;

/** A prompt as a value, to be registered with `server.add`. */
export interface Prompt<N extends string = string> {
  readonly kind: "prompt";
  readonly name: N;
  readonly definition: PromptDefinition<PromptArguments | undefined>;
  readonly handler: AnyPromptHandler;
}

/** Defines a prompt that lives in a file of its own. */
export function prompt<const N extends string, const A extends PromptArguments | undefined = undefined>(
  name: N,
  definition: PromptDefinition<A>,
  handler: PromptHandler<NoInfer<A>>,
): Prompt<N> {
  return { kind: "prompt", name, definition, handler: handler as AnyPromptHandler };
}

/** Messages of the user, one for each piece of content. */
export function user(...content: readonly MessageContent[]): LooseMessage {
  return { role: "user", content };
}

/** Messages of the assistant, one for each piece of content. */
export function assistant(...content: readonly MessageContent[]): LooseMessage {
  return { role: "assistant", content };
}
