import type { CacheHint } from "../../era/era.js";
import type { Block } from "../../protocol/features/block.js";
import type { Annotations, EmbeddedResource } from "../../protocol/features/content.js";
import type { Resource as WireResource } from "../../protocol/features/resources.js";
import type { Icon } from "../../protocol/implementation.js";
import type { TemplateVariables } from "../../uri-template/parse.js";
import type { HandlerContext, RequestContext } from "./context.js";
import type { Completer, VisibleTo } from "./offer-options.js";

/** What resources and resource templates have in common: what clients see, and how reads are treated. */
interface CommonDefinition {
  /** A short name. Default: the URI or the template. */
  name?: string | undefined;
  /** A display name for users. */
  title?: string | undefined;
  /** For the model: what the resource contains. */
  description?: string | undefined;
  /** The type of the contents, unless the handler returns one. */
  mimeType?: string | undefined;
  /** Hints for clients: for whom the resource is, how important it is, and when it last changed. */
  annotations?: Annotations | undefined;
  /** Icons that clients may show beside the name. Default: none. */
  icons?: Icon[] | undefined;
  /** More members for programs, under names with a prefix of their own; sent to clients unchanged. */
  _meta?: Record<string, unknown> | undefined;
  /** How long clients may cache the contents. Default: the server's option `cache`. */
  cache?: Partial<CacheHint> | undefined;
  /** Decides whether a caller sees the resource. For other callers it is neither listed nor readable. Default: all see it. */
  visibleTo?: VisibleTo | undefined;
  /** Scopes that the caller must have to read, to subscribe and to complete. Over HTTP a caller without authorization has none; on a pipe it is not checked. */
  scopes?: readonly string[] | undefined;
  /** Watches for changes while there are subscribers. */
  watch?: Watch | undefined;
}

/**
 * Watches a resource. It is called when a URI gets its first subscriber in this process, and calls `updated` whenever the
 * resource changes. The function it returns is called when the last subscriber has left.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is what most people write
export type Watch = (uri: string, updated: () => void) => Unwatch | void | Promise<Unwatch | void>;

/** Ends a watch. */
export type Unwatch = () => void;

/** Describes a resource to clients, and sets how reads are treated. */
export interface ResourceDefinition extends CommonDefinition {
  /** Size of the contents in bytes before any encoding, if known. */
  size?: number | undefined;
}

/** Describes a resource template to clients, and sets how reads are treated. `T` is the template's text. */
export interface ResourceTemplateDefinition<T extends string = string> extends CommonDefinition {
  /** The resources of this template that `resources/list` includes. Default: none. */
  list?: ((ctx: RequestContext) => Listed<T> | Promise<Listed<T>>) | undefined;
  /** Completes variables for the user, by name. */
  complete?: { readonly [K in keyof TemplateVariables<T>]?: Completer } | undefined;
  /**
   * Passes variables with `..` segments, backslashes and NULs to the handler. Default: false, and such a URI is refused,
   * because a handler that appends a variable to the path of a folder would read outside that folder.
   */
  allowTraversal?: boolean | undefined;
}

type Listed<T extends string> = Iterable<ListedResource<T>>;

/** A resource of a template, given by its URI or by the variables of the template. */
export type ListedResource<T extends string = string> = Omit<WireResource, "uri" | "name"> & { name?: string } & (
    | { uri: string; variables?: never }
    | { uri?: never; variables: TemplateVariables<T> }
  );

/** One part of a resource's contents. Default `uri`: the requested one. */
export type ReadContents =
  | string
  | Uint8Array
  | { text: string; uri?: string; mimeType?: string; _meta?: Record<string, unknown> }
  | { blob: Uint8Array | string; uri?: string; mimeType?: string; _meta?: Record<string, unknown> }
  | Block<EmbeddedResource>;

/**
 * What a read handler returns: text, bytes, contents with their own type (a `blob` string is Base64), a block made by
 * `content.resource`, or an array of these. `null` and `undefined` mean that the resource does not exist.
 */
export type ReadReturn = ReadContents | readonly ReadContents[] | null | undefined;

/** Reads a resource. */
export type ReadHandler<D = Record<string, unknown>> = (
  uri: string,
  ctx: HandlerContext<D>,
) => ReadReturn | Promise<ReadReturn>;

/** Reads a resource of a template, given the variables in its URI. */
export type TemplateReadHandler<T extends string = string, D = Record<string, unknown>> = (
  variables: TemplateVariables<T>,
  ctx: HandlerContext<D>,
  uri: string,
) => ReadReturn | Promise<ReadReturn>;

/** A resource as a value, to be registered with `server.add`. */
export interface ResourceOffer {
  readonly kind: "resource";
  readonly name: string;
  readonly definition: ResourceDefinition;
  readonly read: ReadHandler;
}

// A match of the template has exactly these variables, so the erased type is sound.
type AnyTemplateReadHandler = (
  variables: never,
  ctx: HandlerContext<never>,
  uri: string,
) => ReadReturn | Promise<ReadReturn>;

/** A resource template as a value, to be registered with `server.add`. */
export interface ResourceTemplateOffer {
  readonly kind: "resourceTemplate";
  readonly name: string;
  // Variables are looked up by name, and the compiler has checked the names, so the erased type is sound.
  readonly definition: ResourceTemplateDefinition<string>;
  readonly read: AnyTemplateReadHandler;
}

/** Defines a resource as a value, for `server.add`. */
export function resource(uri: string, definition: ResourceDefinition, read: ReadHandler): ResourceOffer {
  return { kind: "resource", name: uri, definition, read };
}

/** Defines a resource template as a value, for `server.add`. The handler's variables are typed by the template's text. */
export function resourceTemplate<const T extends string>(
  template: T,
  definition: ResourceTemplateDefinition<NoInfer<T>>,
  read: TemplateReadHandler<NoInfer<T>>,
): ResourceTemplateOffer {
  return {
    kind: "resourceTemplate",
    name: template,
    // Erases only the names of the variables.
    definition: definition as unknown as ResourceTemplateDefinition<string>,
    read: read as AnyTemplateReadHandler,
  };
}
