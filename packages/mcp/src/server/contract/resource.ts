import type { CacheHint } from "../../era/era.js";
import type { Block } from "../../protocol/features/block.js";
import type { Annotations, EmbeddedResource } from "../../protocol/features/content.js";
import type { Resource as WireResource } from "../../protocol/features/resources.js";
import type { Icon } from "../../protocol/implementation.js";
import type { TemplateVariables } from "../../uri-template/parse.js";
import type { HandlerContext, RequestContext } from "./context.js";
import type { Completer, VisibleTo } from "./offer-options.js";

/** The options that resources and resource templates have in common. */
interface CommonDefinition {
  /** A short name for programs. Default: the URI or the template. */
  name?: string | undefined;
  /** A display name for users. */
  title?: string | undefined;
  /** A description for the model: what the resource contains. */
  description?: string | undefined;
  /** The MIME type of the contents. A handler may return another one. */
  mimeType?: string | undefined;
  /** Hints for clients: the intended audience, the importance, and the time of the last change. */
  annotations?: Annotations | undefined;
  /** Icons that clients may show beside the name. Default: none. */
  icons?: Icon[] | undefined;
  /**
   * Additional metadata for programs, sent to clients unchanged. Start the keys with a prefix of your own, such as
   * `com.example/`.
   */
  _meta?: Record<string, unknown> | undefined;
  /** Cache hint for the contents. Default: the server's option `cache`. */
  cache?: Partial<CacheHint> | undefined;
  /**
   * Returns true if a caller sees the resource. For all other callers it is neither listed nor readable. Default: every
   * caller sees it.
   */
  visibleTo?: VisibleTo | undefined;
  /**
   * Scopes that the caller must have to read, to subscribe and to complete. Over HTTP a caller without authorization
   * has none. On other transports a caller without authorization is not checked.
   */
  scopes?: readonly string[] | undefined;
  /**
   * Watches the resource for changes while it has subscribers. Default: only `server.resourceUpdated` publishes
   * changes.
   */
  watch?: Watch | undefined;
}

/**
 * Watches a resource. The server calls this function when a URI gets its first subscriber in this process. Call
 * `updated` whenever the resource changes. The server calls the returned function when the last subscriber has left.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is what most people write
export type Watch = (uri: string, updated: () => void) => Unwatch | void | Promise<Unwatch | void>;

/** Stops a watch. */
export type Unwatch = () => void;

/** Describes a resource to clients, and sets how the server serves it. */
export interface ResourceDefinition extends CommonDefinition {
  /** Size of the contents in bytes before any encoding, if known. */
  size?: number | undefined;
}

/** Describes a resource template to clients, and sets how the server serves it. `T` is the text of the template. */
export interface ResourceTemplateDefinition<T extends string = string> extends CommonDefinition {
  /** Returns the resources of this template that `resources/list` includes. Default: none. */
  list?: ((ctx: RequestContext) => ResourceEntries<T> | Promise<ResourceEntries<T>>) | undefined;
  /** Completers by variable name. Default: no suggestions. */
  complete?: { readonly [K in keyof TemplateVariables<T>]?: Completer } | undefined;
  /**
   * True if the handler accepts variables with `..` segments, backslashes and NULs. Default: false. The server refuses
   * such URIs, because a handler that appends a variable to the path of a folder would read outside that folder.
   */
  allowTraversal?: boolean | undefined;
}

type ResourceEntries<T extends string> = Iterable<ListedResource<T>>;

/** A resource of a template, identified by its URI or by the variables of the template. Default `name`: the URI. */
export type ListedResource<T extends string = string> = Omit<WireResource, "uri" | "name"> & { name?: string } & (
    | { uri: string; variables?: never }
    | { uri?: never; variables: TemplateVariables<T> }
  );

/**
 * One part of the contents of a resource: text, bytes, or an object with `text` or `blob` and its own `mimeType`.
 * Default `uri`: the requested URI.
 */
export type ReadContents =
  | string
  | Uint8Array
  | { text: string; uri?: string; mimeType?: string; _meta?: Record<string, unknown> }
  | { blob: Uint8Array | string; uri?: string; mimeType?: string; _meta?: Record<string, unknown> }
  | Block<EmbeddedResource>;

/**
 * The value that a read handler returns: text, bytes, contents with their own type (a `blob` string is Base64), a block
 * created by `content.resource`, or an array of these. `null` and `undefined` mean that the resource does not exist.
 */
export type ReadReturn = ReadContents | readonly ReadContents[] | null | undefined;

/** Reads a resource, given its URI and the context of the call. */
export type ReadHandler<D = Record<string, unknown>> = (
  uri: string,
  ctx: HandlerContext<D>,
) => ReadReturn | Promise<ReadReturn>;

/** Reads a resource of a template, given the variables in its URI, the context of the call and the URI. */
export type TemplateReadHandler<T extends string = string, D = Record<string, unknown>> = (
  variables: TemplateVariables<T>,
  ctx: HandlerContext<D>,
  uri: string,
) => ReadReturn | Promise<ReadReturn>;

/** A resource as a value, to register with `server.add`. */
export interface ResourceOffer {
  /** Distinguishes resources from other offers. */
  readonly kind: "resource";
  /** The URI of the resource. */
  readonly name: string;
  /** The description that clients get, and the options of the resource. */
  readonly definition: ResourceDefinition;
  /** The function that reads the contents. */
  readonly read: ReadHandler;
}

// A URI that matches the template yields exactly the template's variables, so it is sound to erase their type here.
type AnyTemplateReadHandler = (
  variables: never,
  ctx: HandlerContext<never>,
  uri: string,
) => ReadReturn | Promise<ReadReturn>;

/** A resource template as a value, to register with `server.add`. */
export interface ResourceTemplateOffer {
  /** Distinguishes resource templates from other offers. */
  readonly kind: "resourceTemplate";
  /** The URI template (RFC 6570). */
  readonly name: string;
  /** The description that clients get, and the options of the template. */
  // The compiler has checked the names of the variables in `resourceTemplate`, so it is sound to erase their type here.
  readonly definition: ResourceTemplateDefinition<string>;
  /** The function that reads the contents of a matching URI. */
  readonly read: AnyTemplateReadHandler;
}

/**
 * Defines a resource as a value, for `server.add`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function resource(uri: string, definition: ResourceDefinition, read: ReadHandler): ResourceOffer {
  return { kind: "resource", name: uri, definition, read };
}

/**
 * Defines a resource template as a value, for `server.add`. The text of the template determines the type of the
 * handler's variables.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
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
