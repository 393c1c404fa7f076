import { withoutUndefined } from "../../encoding/with-defaults.js";
import type { CacheHint } from "../../era/era.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { Resource as WireResource, ResourceTemplate as WireTemplate } from "../../protocol/features/resources.js";
import { compileMatcher, type MatchedVariables } from "../../uri-template/match.js";
import { parseUriTemplate, type TemplatePart } from "../../uri-template/parse.js";
import type { ServerConfig } from "../call/server-config.js";
import { cacheHint } from "../contract/cache-hints.js";
import { checkAnnotations, checkMeta } from "../contract/check-listed.js";
import type { HandlerContext } from "../contract/context.js";
import type { CompletableArguments, OwnOffer } from "../contract/offer-options.js";
import type {
  ReadHandler,
  ResourceOffer,
  ResourceTemplateDefinition,
  ResourceTemplateOffer,
  Watch,
} from "../contract/resource.js";

/** A registered resource. */
export interface ReadyResource extends OwnOffer<WireResource> {
  readonly scopes: readonly string[] | undefined;
  readonly read: ReadHandler;
  readonly cache: CacheHint;
  readonly watch: Watch | undefined;
}

/** A registered resource template, parsed and compiled. */
export interface ReadyTemplate extends OwnOffer<WireTemplate> {
  readonly scopes: readonly string[] | undefined;
  readonly parts: readonly TemplatePart[];
  readonly match: (uri: string) => MatchedVariables | undefined;
  readonly read: (variables: unknown, ctx: HandlerContext, uri: string) => unknown;
  readonly cache: CacheHint;
  readonly watch: Watch | undefined;
  readonly list: ResourceTemplateDefinition["list"];
  readonly variables: CompletableArguments;
  readonly allowTraversal: boolean;
}

/** Characters that RFC 3986 does not allow in a URI. */
const NOT_IN_URIS = /[\s<>"{}|\\^`]/;

/** Compiles a resource. Throws if its definition is not valid. */
export function readyResource({ name: uri, definition, read }: ResourceOffer, config: ServerConfig): ReadyResource {
  if (!URL.canParse(uri) || NOT_IN_URIS.test(uri)) {
    throw new McpError("invalid_definition", `"${uri}" is not a valid URI`, {
      fix: uri.includes("{")
        ? "Use `resourceTemplate` for a URI with variables."
        : "Write a scheme, a colon and a path.",
    });
  }
  checkOptions(
    `resource "${uri}"`,
    definition,
    "name title description mimeType annotations icons _meta cache visibleTo scopes watch size",
  );
  checkMeta(`resource "${uri}"`, definition._meta, config);
  checkAnnotations(`resource "${uri}"`, definition.annotations);
  const { cache, visibleTo, scopes, watch, name = uri, ...listed } = definition;
  return {
    key: uri,
    item: { uri, name, ...withoutUndefined(listed) },
    visibleTo,
    scopes,
    read,
    cache: cacheHint(`the resource "${uri}"`, config.hints.read, cache),
    watch,
  };
}

/** Compiles a resource template. Throws if its definition is not valid. */
export function readyTemplate(
  { name: template, definition, read }: ResourceTemplateOffer,
  config: ServerConfig,
): ReadyTemplate {
  const parts = partsOf(template);
  checkOptions(
    `resource template "${template}"`,
    definition,
    "name title description mimeType annotations icons _meta cache visibleTo scopes watch list complete allowTraversal",
  );
  checkMeta(`resource template "${template}"`, definition._meta, config);
  checkAnnotations(`resource template "${template}"`, definition.annotations);
  const {
    cache,
    visibleTo,
    scopes,
    watch,
    list,
    complete = {},
    allowTraversal,
    name = template,
    ...listed
  } = definition;
  return {
    key: template,
    item: { uriTemplate: template, name, ...withoutUndefined(listed) },
    visibleTo,
    scopes,
    parts,
    match: compileMatcher(parts),
    // Sound: the template determines the types of the variables, and the URI matches it.
    read: read as ReadyTemplate["read"],
    cache: cacheHint(`the resource template "${template}"`, config.hints.read, cache),
    watch,
    list,
    variables: completableVariables(template, parts, complete),
    allowTraversal: allowTraversal === true,
  };
}

function partsOf(template: string): readonly TemplatePart[] {
  let parts: readonly TemplatePart[];
  try {
    parts = parseUriTemplate(template);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new McpError("invalid_definition", `the resource template "${template}" is not valid: ${reason}`, {
      cause: error,
    });
  }
  if (parts.some((part) => part.kind === "expression")) return parts;
  throw new McpError("invalid_definition", `the resource template "${template}" has no variable`, {
    fix: "Use `resource` for a single resource.",
  });
}

function completableVariables(
  template: string,
  parts: readonly TemplatePart[],
  complete: NonNullable<ResourceTemplateDefinition["complete"]>,
): CompletableArguments {
  const names = parts.flatMap((part) => (part.kind === "expression" ? part.variables.map(({ name }) => name) : []));
  const stray = Object.keys(complete).find((name) => !names.includes(name));
  if (stray !== undefined) {
    throw new McpError("invalid_definition", `the resource template "${template}" has no variable "${stray}"`, {
      fix: `Use the name of a variable in \`complete\`: ${names.join(", ")}.`,
    });
  }
  return new Map(names.map((name) => [name, Object.hasOwn(complete, name) ? complete[name] : undefined]));
}
