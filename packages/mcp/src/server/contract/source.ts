import type { MaybePromise } from "../../encoding/maybe-promise.js";
import type { CacheHint, Call } from "../../era/era.js";
import type { ParamHeader } from "../../era/param-headers.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { OfferKind } from "../../protocol/features/offer-kinds.js";
import type { Prompt } from "../../protocol/features/prompts.js";
import type { Resource, ResourceTemplate } from "../../protocol/features/resources.js";
import type { Tool } from "../../protocol/features/tools.js";
import type { Revision } from "../../protocol/revisions.js";
import type { Answer, Exchange } from "../../transport/transport.js";
import type { HandlerContext } from "./context.js";
import type { PromptOffer } from "./prompt.js";
import type { ResourceOffer, ResourceTemplateOffer, Watch } from "./resource.js";
import type { ToolDefinition, ToolOffer, ToolTypes } from "./tool.js";

/** A tool, resource, resource template or prompt as a value, for `server.add` and for sources. */
export type Offer = ToolOffer | ResourceOffer | ResourceTemplateOffer | PromptOffer;

/** A request that a source or an extension serves. */
export interface SourceCall {
  /** The request in a form independent of the era, with what is known about the client. */
  readonly request: Call;
  /** How it arrived: its peer, its HTTP request, its principal, and what can be sent before the answer. */
  readonly exchange: Exchange;
  /** The context that handlers get. */
  readonly ctx: HandlerContext;
  /** How long the client may cache the result, if the row of the method is `cacheable`; a handler may change it. */
  cache: CacheHint;
  /** Members of the answer beside its text: the scopes that the caller lacks, or the HTTP status and time of a limit. */
  reply: Pick<Answer, "scopes" | "status" | "retryAfterMs"> | undefined;
}

/** The entries of lists, by kind. */
export interface OfferItems {
  tools: Tool;
  prompts: Prompt;
  resources: Resource;
  resourceTemplates: ResourceTemplate;
}

/** The entries of one kind that a caller sees. The same object every time until something changes, so that its text is reused. */
export interface OfferList<K extends OfferKind = OfferKind> {
  readonly items: readonly OfferItems[K][];
  /** How long clients may cache the list. Default: the server's option `cache`. */
  readonly cache?: CacheHint | undefined;
}

/** One page of a list, and the cursor of the next one if there is one. */
export interface OfferPage extends OfferList {
  readonly next?: string | undefined;
}

/** An offer that a source has found by its name or URI. */
export interface FoundOffer {
  /** Its entry in the list. Absent where the source serves more than it lists. */
  readonly item?: OfferItems[OfferKind] | undefined;
  /** Scopes that the caller must have. */
  readonly scopes?: readonly string[] | undefined;
  /** How long clients may cache the contents. Default: the server's option `cache`. */
  readonly cache?: CacheHint | undefined;
  /** Whether calls run as tasks. Default: as `execution.taskSupport` of the entry says. */
  readonly task?: ToolDefinition["task"];
  /** How often a tool may be called. */
  readonly rate?: ToolDefinition["rate"];
  /** The arguments of a tool that clients repeat as HTTP headers. Default: those that the entry's schema names. */
  readonly headers?: readonly ParamHeader[] | undefined;
  /** Whether the structured result of a tool may be other than an object. Default: as the entry's schema says. */
  readonly wrapsOutput?: boolean | undefined;
  /** True where the source cannot tell whether the offer exists before it is used. */
  readonly assumed?: boolean | undefined;
  /** Throws, before anything slow, what HTTP refuses by its status. */
  check?(call: SourceCall): void;
  /** Serves `tools/call`, `prompts/get` or `resources/read` with the result of that method. */
  run(call: SourceCall): MaybePromise<object>;
  /** Serves `completion/complete` for an argument of the offer. Default: there is nothing to complete. */
  complete?(call: SourceCall): MaybePromise<object>;
}

/**
 * A place where offers come from: `new Server(info, { sources: [rows] })`. A server asks its own offers first, then its sources
 * in order, then its mounts. It joins their lists, splits them into pages, checks scopes, arguments and headers, and notifies clients.
 */
export interface Source {
  /** The capabilities of its kinds, for example `{ tools: {} }`; `listChanged` and `subscribe` follow from the members below. */
  capabilities(revision: Revision): ServerCapabilities;
  /** The entries of a kind that this caller sees: as they are sent, or as values made by `tool`, `resource` and `prompt`. */
  list(kind: OfferKind, call: SourceCall): MaybePromise<OfferList | readonly (OfferItems[OfferKind] | Offer)[]>;
  /**
   * One page of a list that is too long to be read at once; `cursor` is the `next` of the page before. Used where no other source of
   * the server has offers of the kind.
   */
  page?(kind: OfferKind, cursor: string | undefined, call: SourceCall): MaybePromise<OfferPage>;
  /**
   * The offer with this name, URI or template, if this caller sees one; also for URIs that `list` does not name. A value made by `tool`,
   * `resource` or `prompt` is run like one of the server's own. Default: the value in `list`.
   */
  find?(kind: OfferKind, name: string, call: SourceCall): MaybePromise<FoundOffer | Offer | undefined>;
  /** For the model: how to use these offers, where the server has no `instructions`. */
  instructions?(): string | undefined;
  /** The watch of a resource, called for its first subscriber; the same function as long as the resource is the same. */
  watchOf?(uri: string): Watch | undefined;
  /** Calls `listener` after each change, with the kinds whose lists have changed. Returns what ends that. */
  onChange?(listener: (kinds: readonly OfferKind[]) => void): () => void;
  /** True while none of its offers needs a session. Default: false. */
  readonly sessionless?: boolean | undefined;
  /** Called when the server closes. */
  close?(): void | Promise<void>;
}

/** The types of the prompts in a list of offers, by name. */
export type OfferedPrompts<L extends readonly Offer[]> = L[number] extends infer F
  ? { [K in F as K extends PromptOffer ? K["name"] : never]: K extends PromptOffer<string, infer A> ? A : never }
  : never;

/** The types of the tools in a list of offers, by name. */
// Through `infer`, because editors then show the tools, and not this name with the whole list.
export type OfferedTools<L extends readonly Offer[]> = L[number] extends infer F
  ? {
      [K in F as K extends ToolOffer ? K["name"] : never]: K extends ToolOffer<string, infer A, infer R>
        ? ToolTypes<A, R>
        : never;
    }
  : never;

/** The types of a mounted server's tools or prompts, by their names with the prefix. */
export type Mounted<P extends string, U> = { [K in keyof U & string as `${P}_${K}`]: U[K] };
