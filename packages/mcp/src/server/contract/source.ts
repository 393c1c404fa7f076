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
  /** The request in a form that does not depend on the protocol revision, with the client's info and capabilities. */
  readonly request: Call;
  /**
   * The transport's side of the request: its peer, its HTTP request, its principal, and the channel for messages before
   * the answer.
   */
  readonly exchange: Exchange;
  /** The context that handlers receive. */
  readonly ctx: HandlerContext;
  /** Cache hint of the result, if the method is `cacheable`. A handler may change it. */
  cache: CacheHint;
  /**
   * Properties of the answer outside its body: the scopes that the caller lacks, or the HTTP status and the retry time
   * of a refusal by a limit.
   */
  reply: Pick<Answer, "scopes" | "status" | "retryAfterMs"> | undefined;
}

/** The type of a list entry, by kind of offer. */
export interface OfferItems {
  /** An entry of `tools/list`. */
  tools: Tool;
  /** An entry of `prompts/list`. */
  prompts: Prompt;
  /** An entry of `resources/list`. */
  resources: Resource;
  /** An entry of `resources/templates/list`. */
  resourceTemplates: ResourceTemplate;
}

/**
 * The entries of one kind that a caller sees. Return the same object until something changes, so that the server
 * serialises the entries only once.
 */
export interface OfferList<K extends OfferKind = OfferKind> {
  /** The entries, in the order in which clients get them. */
  readonly items: readonly OfferItems[K][];
  /** Cache hint of the list. Default: the server's option `cache`. */
  readonly cache?: CacheHint | undefined;
}

/** One page of a list. */
export interface OfferPage extends OfferList {
  /** The cursor of the next page. Undefined on the last page. */
  readonly next?: string | undefined;
}

/** An offer that a source has found by its name or URI. */
export interface FoundOffer {
  /** The offer's entry in the list. Absent for an offer that the source serves but does not list. */
  readonly item?: OfferItems[OfferKind] | undefined;
  /** Scopes that the caller must have. Default: none. */
  readonly scopes?: readonly string[] | undefined;
  /** Cache hint of the contents. Default: the server's option `cache`. */
  readonly cache?: CacheHint | undefined;
  /** Task support of a tool. Default: `execution.taskSupport` of the entry. */
  readonly task?: ToolDefinition["task"];
  /** Rate limit of a tool. Default: no limit. */
  readonly rate?: ToolDefinition["rate"];
  /** The arguments of a tool that clients also send as HTTP headers. Default: those that the entry's schema names. */
  readonly headers?: readonly ParamHeader[] | undefined;
  /**
   * True if the structured result of a tool may be something other than an object. Default: derived from the entry's
   * schema.
   */
  readonly wrapsOutput?: boolean | undefined;
  /** True if the source cannot know whether the offer exists before it is used. */
  readonly assumed?: boolean | undefined;
  /**
   * Throws for requests that the server must refuse with an HTTP error status. Called before anything slow happens.
   */
  check?(call: SourceCall): void;
  /** Serves `tools/call`, `prompts/get` or `resources/read`. Returns the result of that method. */
  run(call: SourceCall): MaybePromise<object>;
  /** Serves `completion/complete` for an argument of the offer. Default: an empty list of values. */
  complete?(call: SourceCall): MaybePromise<object>;
}

/**
 * A source of offers, such as the rows of a database: `new Server(info, { sources: [rows] })`.
 *
 * A server searches its registered offers first, then its sources in order, then its mounts. It joins their lists, splits them into
 * pages, checks scopes, arguments and headers, and notifies clients of changes.
 */
export interface Source {
  /**
   * Returns the capabilities of the kinds that the source offers, for example `{ tools: {} }`. The server adds
   * `listChanged` if the source has `onChange`, and `subscribe` if it has `watchOf`.
   */
  capabilities(revision: Revision): ServerCapabilities;
  /**
   * Returns the entries of a kind that this caller sees: as they are sent, or as values created by `tool`, `resource`,
   * `resourceTemplate` and `prompt`.
   */
  list(kind: OfferKind, call: SourceCall): MaybePromise<OfferList | readonly (OfferItems[OfferKind] | Offer)[]>;
  /**
   * Returns one page of a list that is too long to load at once. `cursor` is the `next` of the previous page. Only used
   * if no other source of the server has offers of the kind.
   */
  page?(kind: OfferKind, cursor: string | undefined, call: SourceCall): MaybePromise<OfferPage>;
  /**
   * Returns the offer with this name, URI or template, if this caller sees it. May also find URIs that `list` does not
   * contain. A value created by `tool`, `resource`, `resourceTemplate` or `prompt` runs like a registered offer.
   * Default: searches the values in `list`.
   */
  find?(kind: OfferKind, name: string, call: SourceCall): MaybePromise<FoundOffer | Offer | undefined>;
  /** Returns instructions for the model: how to use these offers. Only used if the server has no `instructions`. */
  instructions?(): string | undefined;
  /**
   * Returns the function that watches a resource. The server calls it for the first subscriber. Return the same function as long
   * as the resource is the same.
   */
  watchOf?(uri: string): Watch | undefined;
  /**
   * Calls `listener` after each change, with the kinds whose lists have changed. Returns a function that ends these
   * calls.
   */
  onChange?(listener: (kinds: readonly OfferKind[]) => void): () => void;
  /** True while none of the offers needs a session. Default: false. */
  readonly sessionless?: boolean | undefined;
  /** Called when the server closes. */
  close?(): void | Promise<void>;
}

/** The types of the prompts in a list of offers, by name. */
export type OfferedPrompts<L extends readonly Offer[]> = L[number] extends infer F
  ? { [K in F as K extends PromptOffer ? K["name"] : never]: K extends PromptOffer<string, infer A> ? A : never }
  : never;

/** The types of the tools in a list of offers, by name. */
// `infer` makes editors show the tools instead of this type with the whole list.
export type OfferedTools<L extends readonly Offer[]> = L[number] extends infer F
  ? {
      [K in F as K extends ToolOffer ? K["name"] : never]: K extends ToolOffer<string, infer A, infer R>
        ? ToolTypes<A, R>
        : never;
    }
  : never;

/** The types of a mounted server's tools or prompts, by their names with the prefix. */
export type MountedTypes<P extends string, U> = { [K in keyof U & string as `${P}_${K}`]: U[K] };
