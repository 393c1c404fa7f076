import type { CacheHint } from "../../era/era.js";
import type { Annotations, EmbeddedResource } from "../../protocol/features/content.js";
import type { Resource as WireResource } from "../../protocol/features/resources.js";
import type { Icon } from "../../protocol/implementation.js";
import type { TemplateVariables } from "../../uri-template/template-variables.js";
import type { HandlerContext, RequestContext } from "../context.js";
import type { VisibleTo } from "../lists/catalogue.js";
import type { Completer } from "../lists/completion.js";
import type { Block } from "../tools/marked-content.js";

/** What a resource and a family of resources say of themselves, and how they are treated. */
interface CommonDefinition {
  /** A short name; default: the URI or the template. */
  name?: string | undefined;
  /** A name for people. */
  title?: string | undefined;
  /** For the model: what it holds. */
  description?: string | undefined;
  /** What the contents are, unless the handler says otherwise. */
  mimeType?: string | undefined;
  annotations?: Annotations | undefined;
  icons?: Icon[] | undefined;
  _meta?: Record<string, unknown> | undefined;
  /** How long clients may keep what was read. Default: what the server's `cache` says. */
  cache?: Partial<CacheHint> | undefined;
  /** Whether this caller may know of it. To others it does not exist, neither in lists nor when read. */
  visibleTo?: VisibleTo | undefined;
  /** Watches for changes while there are subscribers. */
  watch?: Watch | undefined;
}

/**
 * Called when a URI gets its first subscriber in this process; what it returns is called when the last one is gone. In
 * between it calls `updated` whenever the resource changed.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is what most people write
export type Watch = (uri: string, updated: () => void) => Unwatch | void | Promise<Unwatch | void>;

/** Ends a watch. */
export type Unwatch = () => void;

/** What a resource says of itself. */
export interface ResourceDefinition extends CommonDefinition {
  /** Bytes before any encoding, where known. */
  size?: number | undefined;
}

/** What a family of resources says of itself. `T` is its template. */
export interface ResourceTemplateDefinition<T extends string = string> extends CommonDefinition {
  /** The members of the family that are worth listing. Without it none is listed. */
  list?: ((ctx: RequestContext) => Listed<T> | Promise<Listed<T>>) | undefined;
  /** Completes variables for the user. */
  complete?: { readonly [K in keyof TemplateVariables<T>]?: Completer } | undefined;
  /**
   * Hands variables with `..` segments, backslashes and NULs to the handler. Without it such a URI is refused, because a
   * handler that joins a variable to a folder would leave that folder.
   */
  allowTraversal?: boolean | undefined;
}

type Listed<T extends string> = Iterable<ListedResource<T>>;

/** A member of a family, by its URI or by the variables that make it. */
export type ListedResource<T extends string = string> = Omit<WireResource, "uri" | "name"> & { name?: string } & (
    | { uri: string; variables?: never }
    | { uri?: never; variables: TemplateVariables<T> }
  );

/** One part of what a resource holds. Without `uri` it is what was asked for. */
export type ReadContents =
  | string
  | Uint8Array
  | { text: string; uri?: string; mimeType?: string; _meta?: Record<string, unknown> }
  | { blob: Uint8Array | string; uri?: string; mimeType?: string; _meta?: Record<string, unknown> }
  | Block<EmbeddedResource>;

/**
 * What a read handler returns: text, bytes, contents with a type of their own (a `blob` string is Base64), what the
 * `resource` builder makes, or several of these. Nothing means that there is no such resource.
 */
export type ReadReturn = ReadContents | readonly ReadContents[] | null | undefined;

/** Reads a resource. */
export type ReadHandler<D = Record<string, unknown>> = (
  uri: string,
  ctx: HandlerContext<D>,
) => ReadReturn | Promise<ReadReturn>;

/** Reads a member of a family, by the variables of its URI. */
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

// A match of the template gives exactly these variables, so the erased type is sound.
type AnyTemplateReadHandler = (
  variables: never,
  ctx: HandlerContext<never>,
  uri: string,
) => ReadReturn | Promise<ReadReturn>;

/** A family of resources as a value, to be registered with `server.add`. */
export interface ResourceTemplateOffer {
  readonly kind: "resourceTemplate";
  readonly name: string;
  // Listed members are expanded, and completers found, by names that the compiler has checked.
  readonly definition: ResourceTemplateDefinition<string>;
  readonly read: AnyTemplateReadHandler;
}

/** Defines a resource that lives in a file of its own. */
export function resource(uri: string, definition: ResourceDefinition, read: ReadHandler): ResourceOffer {
  return { kind: "resource", name: uri, definition, read };
}

/** Defines a family of resources that lives in a file of its own; its variables are typed by the template's text. */
export function resourceTemplate<const T extends string>(
  template: T,
  definition: ResourceTemplateDefinition<NoInfer<T>>,
  read: TemplateReadHandler<NoInfer<T>>,
): ResourceTemplateOffer {
  return {
    kind: "resourceTemplate",
    name: template,
    // Only the names of variables are forgotten here.
    definition: definition as unknown as ResourceTemplateDefinition<string>,
    read: read as AnyTemplateReadHandler,
  };
}
