import { isThenable } from "../../encoding/maybe-promise.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  Resource as WireResource,
  ResourceTemplate as WireTemplate,
} from "../../protocol/features/resources.js";
import { expandUriTemplate } from "../../uri-template/expand.js";
import type { MatchedVariables } from "../../uri-template/match.js";
import { hasTraversal } from "../../uri-template/parse.js";
import { checkScopes } from "../call/check-scopes.js";
import type { ServerFacts } from "../call/facts.js";
import type { Feature, MethodHandler } from "../call/feature.js";
import type { Registry } from "../call/registry.js";
import type { ServerCall } from "../call/server-call.js";
import type { Hub } from "../changes/hub.js";
import { type ReadyResource, type ReadyTemplate, readyResource, readyTemplate } from "../resources/ready-resource.js";
import type { ListedResource, ResourceOffer, ResourceTemplateOffer, Watch } from "../resources/resource.js";
import { resourceNotFound, toResourceResult } from "../resources/resource-result.js";
import type { OverflowStore } from "../tools/overflow-store.js";
import { Catalogue } from "./catalogue.js";
import type { CompletableArguments, CompletionSource } from "./completion.js";
import type { ListShape } from "./pages.js";

const RESOURCES: ListShape<WireResource, ListResourcesResult> = {
  name: "resources",
  keyOf: (resource) => resource.uri,
  result: (resources, next) => ({ resources, ...next }),
};

const TEMPLATES: ListShape<WireTemplate, ListResourceTemplatesResult> = {
  name: "resource templates",
  keyOf: (template) => template.uriTemplate,
  result: (resourceTemplates, next) => ({ resourceTemplates, ...next }),
};

/** The resources and resource templates of one server. */
export class Resources implements Feature, CompletionSource {
  readonly #facts: ServerFacts;
  readonly #registry: Registry;
  readonly #hub: Hub;
  readonly #overflow: OverflowStore;
  readonly #resources: Catalogue<WireResource, ReadyResource, ListResourcesResult>;
  readonly #templates: Catalogue<WireTemplate, ReadyTemplate, ListResourceTemplatesResult>;
  /** Stays true after the last resource is removed, because clients that saw the capability may still list. */
  #used: boolean;
  #completes = false;
  /** The resources of mounted servers. */
  elsewhere: { knows(uri: string, call: ServerCall): boolean; watchOf(uri: string): Watch | undefined } | undefined;
  /** Called after a resource or template is added, replaced or removed. */
  onChanged: () => void = () => {};
  readonly handlers: Readonly<Record<string, MethodHandler>>;

  constructor(facts: ServerFacts, registry: Registry, hub: Hub, overflow: OverflowStore) {
    this.#facts = facts;
    this.#registry = registry;
    this.#hub = hub;
    this.#overflow = overflow;
    this.#used = registry.declares("resources");
    this.#resources = new Catalogue(facts, "resource", RESOURCES);
    this.#templates = new Catalogue(facts, "resource template", TEMPLATES);
    this.handlers = {
      "resources/list": (call) => this.#list(call),
      "resources/templates/list": (call) => {
        call.cache = facts.hints.resourceTemplates;
        return this.#templates.list(call);
      },
      "resources/read": (call) => this.#read(call),
    };
  }

  get needsSession(): boolean {
    return this.capabilities().resources?.subscribe === true;
  }

  capabilities(): ServerCapabilities {
    if (!this.#used && !this.#overflow.inUse) return {};
    const { subscribe, listChanged } = this.#facts.options;
    return {
      resources: {
        ...(subscribe === false ? {} : { subscribe: true }),
        ...(listChanged === false ? {} : { listChanged: true }),
      },
    };
  }

  add(offer: ResourceOffer | ResourceTemplateOffer, replace = false): void {
    if (offer.kind === "resource") this.#resources.add(readyResource(offer, this.#facts), replace);
    else this.#templates.add(readyTemplate(offer, this.#facts), replace);
    this.#changed();
  }

  remove(kind: "resource" | "resourceTemplate", name: string): boolean {
    const removed = (kind === "resource" ? this.#resources : this.#templates).remove(name);
    if (removed) this.#changed();
    return removed;
  }

  get completes(): boolean {
    return this.#completes;
  }

  completable(name: string, call: ServerCall): CompletableArguments | undefined {
    const template = this.#templates.find(name, call) ?? this.#matching(name, call)?.template;
    checkScopes("resource template", name, template?.scopes, call);
    if (template !== undefined) return template.variables;
    return this.#resources.find(name, call) === undefined ? undefined : new Map();
  }

  /** Whether this caller sees this URI, without asking the handler whether the resource exists. Throws if it lacks a scope. */
  knows(uri: string, call: ServerCall): boolean {
    // Only the handler object knows its URIs; its `subscribe` gets each one.
    if (this.#registry.provided.has("resources")) return true;
    const resource = this.#resources.find(uri, call);
    const match = resource === undefined ? this.#matching(uri, call) : undefined;
    checkScopes("resource", uri, (resource ?? match?.template)?.scopes, call);
    if (resource !== undefined) return true;
    if (match !== undefined) return badVariable(match) === undefined;
    return this.elsewhere?.knows(uri, call) === true;
  }

  /** The resource or template that this URI belongs to, whoever sees it. */
  ownerOf(uri: string): ReadyResource | ReadyTemplate | undefined {
    for (const resource of this.#resources.all()) if (resource.key === uri) return resource;
    for (const template of this.#templates.all()) if (template.match(uri) !== undefined) return template;
    return undefined;
  }

  /** The watch of the resource or template that this URI belongs to. */
  watchOf(uri: string): Watch | undefined {
    return (this.ownerOf(uri) ?? { watch: this.elsewhere?.watchOf(uri) }).watch;
  }

  #changed(): void {
    this.#used = true;
    this.#completes = [...this.#templates.all()].some(({ variables }) =>
      [...variables.values()].some((completer) => completer !== undefined),
    );
    this.#registry.changed();
    this.onChanged();
    this.#hub.listChanged("resources");
  }

  #list(call: ServerCall): ListResourcesResult | Promise<ListResourcesResult> {
    call.cache = this.#facts.hints.resources;
    const listing = this.#templates.visible(call).filter(({ list }) => list !== undefined);
    return listing.length === 0 ? this.#resources.list(call) : this.#listWithMembers(call, listing);
  }

  async #listWithMembers(call: ServerCall, listing: readonly ReadyTemplate[]): Promise<ListResourcesResult> {
    const byUri = new Map(this.#resources.visible(call).map(({ wire }) => [wire.uri, wire]));
    for (const template of listing) {
      const members = (await template.list?.(call.ctx)) ?? [];
      for (const member of members) {
        const wire = listedMember(template, member);
        if (!byUri.has(wire.uri)) byUri.set(wire.uri, wire);
      }
    }
    return this.#resources.page(call, [...byUri.values()]);
  }

  #read(call: ServerCall): ReadResourceResult | Promise<ReadResourceResult> {
    const uri = call.stringParam("uri");
    const resource = this.#resources.find(uri, call);
    if (resource === undefined) return this.#readMember(uri, call);
    checkScopes("resource", uri, resource.scopes, call);
    call.cache = resource.cache;
    return settled(uri, resource.read(uri, call.ctx), resource.wire.mimeType);
  }

  #readMember(uri: string, call: ServerCall): ReadResourceResult | Promise<ReadResourceResult> {
    const match = this.#matching(uri, call);
    if (match === undefined) return this.#readOverflow(uri, call);
    const { template, variables } = match;
    checkScopes("resource", uri, template.scopes, call);
    const bad = badVariable(match);
    if (bad !== undefined) {
      throw new McpError("invalid_params", `the variable "${bad}" of ${template.key} leads out of its folder`, {
        data: { uri, variable: bad },
        fix: "If the handler is safe with such values, set `allowTraversal` in the template's definition.",
      });
    }
    call.cache = template.cache;
    return settled(uri, template.read(variables, call.ctx, uri), template.wire.mimeType);
  }

  /** Reads a tool's result that was too large for its response. */
  #readOverflow(uri: string, call: ServerCall): ReadResourceResult {
    const contents = this.#overflow.read(uri, call.ctx.auth?.key);
    if (contents === undefined) throw resourceNotFound(uri);
    call.cache = { ...call.cache, scope: "private" };
    return { contents: [contents] };
  }

  /** The first template, in order of registration, that matches the URI and that this caller sees. */
  #matching(uri: string, call: ServerCall): Match | undefined {
    for (const template of this.#templates.all()) {
      const variables = template.match(uri);
      if (variables !== undefined && this.#templates.allows(template, call)) return { template, variables };
    }
    return undefined;
  }
}

interface Match {
  readonly template: ReadyTemplate;
  readonly variables: MatchedVariables;
}

/**
 * The name of a variable that would lead a handler out of its folder.
 *
 * Spec: Resources, "Security Considerations",
 * https://modelcontextprotocol.io/specification/2026-07-28/server/resources#security-considerations
 */
function badVariable({ template, variables }: Match): string | undefined {
  if (template.allowTraversal) return undefined;
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value === "string" ? hasTraversal(value) : hasTraversal(value.join("/"))) return name;
  }
  return undefined;
}

function settled(
  uri: string,
  value: unknown,
  mimeType: string | undefined,
): ReadResourceResult | Promise<ReadResourceResult> {
  return isThenable(value)
    ? Promise.resolve(value).then((contents) => toResourceResult(uri, contents, mimeType))
    : toResourceResult(uri, value, mimeType);
}

function listedMember({ parts, wire }: ReadyTemplate, { variables, ...listed }: ListedResource): WireResource {
  const uri = listed.uri ?? expandUriTemplate(parts, variables ?? {});
  const type = wire.mimeType === undefined ? {} : { mimeType: wire.mimeType };
  return { ...type, ...listed, uri, name: listed.name ?? uri };
}
