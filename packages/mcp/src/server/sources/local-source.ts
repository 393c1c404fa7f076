import { isThenable, type MaybePromise, neverUnhandled, whenReady } from "../../encoding/maybe-promise.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import type { CacheHint } from "../../era/era.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { OFFER_KINDS, type OfferKind } from "../../protocol/features/offer-kinds.js";
import type { GetPromptResult, Prompt } from "../../protocol/features/prompts.js";
import type { ReadResourceResult, Resource, ResourceTemplate } from "../../protocol/features/resources.js";
import type { Tool } from "../../protocol/features/tools.js";
import { isSessionless } from "../../protocol/tool-mode.js";
import type { ParseResult } from "../../schema/parse.js";
import { expandUriTemplate } from "../../uri-template/expand.js";
import type { MatchedVariables } from "../../uri-template/match.js";
import { hasTraversal } from "../../uri-template/parse.js";
import type { Layers } from "../call/layers.js";
import type { ServerCall } from "../call/server-call.js";
import type { ServerConfig } from "../call/server-config.js";
import type { OwnOffer, VisibilityCaller } from "../contract/offer-options.js";
import type { ListedResource, Watch } from "../contract/resource.js";
import type { FoundOffer, Offer, OfferItems, OfferList, Source, SourceCall } from "../contract/source.js";
import type { ToolOffer } from "../contract/tool.js";
import { toPromptResult } from "../prompts/prompt-result.js";
import { badArguments, type ReadyPrompt, readyPrompt } from "../prompts/ready-prompt.js";
import { type ReadyResource, type ReadyTemplate, readyResource, readyTemplate } from "../resources/ready-resource.js";
import { toResourceResult } from "../resources/resource-result.js";
import { ToolCalls, withoutCapabilities } from "../tools/call.js";
import { type ReadyTool, readyTool } from "../tools/ready-tool.js";
import { completeArgument } from "./completion.js";

/** A compiled offer that serves calls. */
export type ServedOffer<K extends OfferKind = OfferKind> = FoundOffer & OwnOffer<OfferItems[K]>;

type ServedTool = ServedOffer<"tools"> & ReadyTool;
type ServedPrompt = ServedOffer<"prompts"> & ReadyPrompt;
type ServedResource = ServedOffer<"resources"> & ReadyResource;
type ServedTemplate = ServedOffer<"resourceTemplates"> & ReadyTemplate;

/**
 * Tool options that need an extension. Each has the entry of the package that exports the extension. It also has the
 * server option that accepts the extension, unless that option is `extensions`.
 */
const EXTENSION_OPTIONS: readonly ["task" | "ui" | "rate", entry: string, given?: string][] = [
  ["task", "tasks"],
  ["ui", "apps"],
  ["rate", "limits", "quotas: quotas()"],
];

/**
 * Maximum number of lists to cache if callers see different offers. Beyond it the cache is cleared. 64 covers the usual
 * number of roles.
 */
const MAX_LISTS = 64;

/** The offers of one kind, in the order of registration, so that lists are deterministic. */
class Catalogue<W extends OfferItems[OfferKind], I extends FoundOffer & OwnOffer<W>> {
  readonly #config: ServerConfig;
  readonly #kind: string;
  readonly #cache: CacheHint;
  readonly #items = new Map<string, I>();
  #all: OfferList | undefined;
  /** Lists by the keys of their entries: callers that see the same offers share a list and its serialised text. */
  readonly #lists = new Map<string, OfferList>();
  /** Number of offers with a `visibleTo`. */
  #restricted = 0;

  constructor(config: ServerConfig, kind: string, cache: CacheHint) {
    this.#config = config;
    this.#kind = kind;
    this.#cache = cache;
  }

  /** Adds an offer. With `replace`, an existing offer with the same key is replaced. */
  add(item: I, replace: boolean): void {
    if (!replace && this.#items.has(item.key)) {
      throw new McpError("invalid_definition", `the ${this.#kind} "${item.key}" exists already`, {
        fix: "Remove it first, use `replace`, or choose another name.",
      });
    }
    this.#forget(item.key);
    this.#items.set(item.key, item);
    if (item.visibleTo !== undefined) this.#restricted++;
    this.#changed();
  }

  remove(key: string): boolean {
    const removed = this.#items.has(key);
    this.#forget(key);
    this.#items.delete(key);
    if (removed) this.#changed();
    return removed;
  }

  #forget(key: string): void {
    if (this.#items.get(key)?.visibleTo !== undefined) this.#restricted--;
  }

  /** Returns the offer with this key, if this caller sees it. */
  find(key: string, call: SourceCall): I | undefined {
    const item = this.#items.get(key);
    return item === undefined || this.allows(item, call) ? item : undefined;
  }

  /** True if this caller sees an offer. A `visibleTo` that throws hides the offer. */
  allows(item: I, call: SourceCall): boolean {
    if (item.visibleTo === undefined) return true;
    try {
      const visible: unknown = item.visibleTo(callerOf(call));
      if (!isThenable(visible)) return visible === true;
      neverUnhandled(Promise.resolve(visible));
      throw new TypeError("it returned a promise");
    } catch (error) {
      this.#config.platform.warn(
        `the ${this.#kind} "${item.key}" is hidden, because its \`visibleTo\` failed: ${thrownMessage(error)}`,
      );
      return false;
    }
  }

  /** Returns all offers, including those that some callers do not see. */
  all(): Iterable<I> {
    return this.#items.values();
  }

  /** Returns the offers that this caller sees. */
  visible(call: SourceCall): I[] {
    const items = [...this.#items.values()];
    return this.#restricted > 0 ? items.filter((item) => this.allows(item, call)) : items;
  }

  /** Returns the list entries that this caller sees. */
  list(call: SourceCall): OfferList {
    if (this.#restricted === 0) {
      this.#all ??= { items: [...this.#items.values()].map(({ item }) => item), cache: this.#cache };
      return this.#all;
    }
    const visible = this.visible(call);
    const key = JSON.stringify(visible.map((item) => item.key));
    let list = this.#lists.get(key);
    if (list === undefined) {
      // Spec: Caching, "Choosing a Cache Scope": a result that depends on the caller is private.
      // https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#choosing-a-cache-scope
      list = { items: visible.map(({ item }) => item), cache: { ...this.#cache, scope: "private" } };
      if (this.#lists.size >= MAX_LISTS) this.#lists.clear();
      this.#lists.set(key, list);
    }
    return list;
  }

  #changed(): void {
    this.#all = undefined;
    this.#lists.clear();
  }
}

/**
 * The offers that are registered with a server, and the stored results of its tools that were too large for their
 * response.
 */
export class LocalSource implements Source {
  readonly toolCalls: ToolCalls;
  readonly #config: ServerConfig;
  readonly #layers: Layers;
  readonly #tools: Catalogue<Tool, ServedTool>;
  readonly #prompts: Catalogue<Prompt, ServedPrompt>;
  readonly #resources: Catalogue<Resource, ServedResource>;
  readonly #templates: Catalogue<ResourceTemplate, ServedTemplate>;
  readonly #listeners = new Set<(kinds: readonly OfferKind[]) => void>();
  /**
   * Kinds that were ever registered or declared. They stay after the last offer is removed, because clients that saw
   * the capability may still request the list.
   */
  readonly used: Set<string>;
  readonly #compiled = new WeakMap<Offer, ServedOffer>();

  constructor(config: ServerConfig, layers: Layers) {
    this.#config = config;
    this.#layers = layers;
    this.toolCalls = new ToolCalls(config);
    this.used = new Set(config.options.declare);
    const { hints } = config;
    this.#tools = new Catalogue(config, LABELS.tools, hints.tools);
    this.#prompts = new Catalogue(config, LABELS.prompts, hints.prompts);
    this.#resources = new Catalogue(config, LABELS.resources, hints.resources);
    this.#templates = new Catalogue(config, LABELS.resourceTemplates, hints.resourceTemplates);
  }

  capabilities(): ServerCapabilities {
    const { listChanged, subscribe } = this.#config.options;
    const changes = listChanged === false ? {} : { listChanged: true };
    const resources = this.used.has("resources") || this.toolCalls.overflow.inUse;
    return {
      ...(this.used.has("tools") && { tools: changes }),
      ...(resources && { resources: { ...(subscribe === false ? {} : { subscribe: true }), ...changes } }),
      ...(this.used.has("prompts") && { prompts: changes }),
      ...(this.#completes() && { completions: {} }),
    };
  }

  #completes(): boolean {
    const has = (values: Iterable<unknown>) => [...values].some((completer) => completer !== undefined);
    return (
      [...this.#prompts.all()].some((prompt) => has(prompt.arguments.values())) ||
      [...this.#templates.all()].some(({ variables }) => has(variables.values()))
    );
  }

  /**
   * True if a tool requires client capabilities or HTTP headers, so that calls to it can be refused before they run.
   */
  get hasChecks(): boolean {
    return [...this.#tools.all()].some(({ requires, headers }) => requires.length > 0 || headers.length > 0);
  }

  /** True if anything was registered or declared. */
  get isUsed(): boolean {
    return this.used.size > 0 || this.toolCalls.overflow.inUse;
  }

  get sessionless(): boolean {
    const tools = [...this.#tools.all()];
    if (this.capabilities().resources?.subscribe === true || tools.length === 0) return false;
    // A tool that requires client capabilities asks the client questions, for which it needs a session.
    return tools.every(({ item, requires }) => isSessionless(item) && requires.length === 0);
  }

  onChange(listener: (kinds: readonly OfferKind[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Adds an offer. With `replace`, an existing offer with the same name is replaced. */
  add(offer: Offer, replace: boolean): void {
    const served = this.#compile(offer);
    // The casts are safe: `kind` identifies the type.
    if (offer.kind === "tool") {
      this.#tools.add(served as ServedTool, replace);
      this.#toolChanged(offer.name, offer);
    } else if (offer.kind === "prompt") this.#prompts.add(served as ServedPrompt, replace);
    else if (offer.kind === "resource") this.#resources.add(served as ServedResource, replace);
    else this.#templates.add(served as ServedTemplate, replace);
    this.#changed(kindOf(offer.kind));
  }

  /** Removes an offer by its name, URI or template. Returns false if the offer does not exist. */
  remove(kind: Offer["kind"], name: string): boolean {
    const removed = this.#catalogue(kindOf(kind)).remove(name);
    if (!removed) return false;
    if (kind === "tool") this.#toolChanged(name, undefined);
    this.#changed(kindOf(kind));
    return true;
  }

  /** Compiles an offer. Returns the same object for the same offer. */
  compile(offer: Offer): ServedOffer {
    const known = this.#compiled.get(offer);
    if (known !== undefined) return known;
    const served = this.#compile(offer);
    this.#compiled.set(offer, served);
    return served;
  }

  #compile(offer: Offer): ServedOffer {
    switch (offer.kind) {
      case "tool":
        return this.#servedTool(withHandler(offer, offer.handler));
      case "resource":
        return servedResource(readyResource(withHandler(offer, offer.read), this.#config));
      case "resourceTemplate":
        return servedTemplate(readyTemplate(withHandler(offer, offer.read), this.#config));
      case "prompt":
        return servedPrompt(readyPrompt(withHandler(offer, offer.handler), this.#config));
      default:
        throw unknownKind(offer);
    }
  }

  #servedTool(offer: ToolOffer): ServedTool {
    const ready = readyTool(offer, this.#config, (name, running) => this.toolCalls.slotsOf(name, running));
    if (ready.resultLimit?.overflow === "link") this.toolCalls.overflow.inUse = true;
    const { task, rate } = offer.definition;
    const tool: ServedTool = {
      ...ready,
      item: this.#extended(ready.item, offer),
      task,
      rate,
      run: this.toolCalls.server(ready),
      ...(ready.requires.length > 0 && { check: (call: ServerCall) => void withoutCapabilities(ready, call) }),
    };
    return tool;
  }

  /** Returns the list entry of a tool with the additions of layers. */
  #extended(item: Tool, tool: ToolOffer): Tool {
    const options = this.#layers.all().flatMap(({ toolOptions = {} }) => Object.entries(toolOptions));
    for (const [option, entry, given = `extensions: [${entry}()]`] of EXTENSION_OPTIONS) {
      if (tool.definition[option] === undefined || options.some(([name]) => name === option)) continue;
      throw new McpError("invalid_definition", `\`${option}\` of tool "${tool.name}" needs an extension`, {
        fix: `Pass \`${given}\` to the server, from "@parley/mcp/${entry}".`,
      });
    }
    const extended = { ...item };
    for (const [, extend] of options) Object.assign(extended, extend(tool, extended));
    return extended;
  }

  list(kind: OfferKind, call: SourceCall): MaybePromise<OfferList> {
    if (kind !== "resources") return this.#catalogue(kind).list(call);
    const listing = this.#templates.visible(call).filter(({ list }) => list !== undefined);
    return listing.length === 0 ? this.#resources.list(call) : this.#listWithMembers(call, listing);
  }

  async #listWithMembers(call: SourceCall, listing: readonly ServedTemplate[]): Promise<OfferList> {
    const byUri = new Map(this.#resources.visible(call).map(({ item }) => [item.uri, item]));
    for (const template of listing) {
      const members = (await template.list?.(call.ctx)) ?? [];
      for (const member of members) {
        const item = listedMember(template, member);
        if (!byUri.has(item.uri)) byUri.set(item.uri, item);
      }
    }
    return { items: [...byUri.values()], cache: { ...this.#config.hints.resources, scope: "private" } };
  }

  find(kind: OfferKind, name: string, call: SourceCall): FoundOffer | undefined {
    const found = this.#catalogue(kind).find(name, call);
    return found !== undefined || kind !== "resources" ? found : (this.#member(name, call) ?? this.#stored(name, call));
  }

  /** True if this caller sees an offer that `compile` returned. */
  allows(kind: OfferKind, offer: ServedOffer, call: SourceCall): boolean {
    return this.#catalogue(kind).allows(offer, call);
  }

  /** Returns a resource of a compiled template, if the URI matches and this caller sees the template. */
  memberOf(offer: ServedOffer, uri: string, call: SourceCall): FoundOffer | undefined {
    // Safe: callers pass templates only.
    const template = offer as ServedTemplate;
    const variables = template.match(uri);
    if (variables === undefined || !this.#templates.allows(template, call)) return undefined;
    return member(template, uri, variables);
  }

  /** Returns a resource of the first registered template that matches the URI and that this caller sees. */
  #member(uri: string, call: SourceCall): FoundOffer | undefined {
    for (const template of this.#templates.all()) {
      const found = this.memberOf(template, uri, call);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Returns a stored result of a tool that was too large for its response. */
  #stored(uri: string, { ctx, cache }: SourceCall): FoundOffer | undefined {
    const contents = this.toolCalls.overflow.read(uri, ctx.auth?.key);
    return contents && { cache: { ...cache, scope: "private" }, run: () => ({ contents: [contents] }) };
  }

  /** Returns the resource or template that serves this URI, regardless of its visibility. */
  ownerOf(uri: string): ReadyResource | ReadyTemplate | undefined {
    for (const resource of this.#resources.all()) if (resource.key === uri) return resource;
    for (const template of this.#templates.all()) if (template.match(uri) !== undefined) return template;
    return undefined;
  }

  watchOf(uri: string): Watch | undefined {
    return this.ownerOf(uri)?.watch;
  }

  /** Disposes of handlers that own resources, such as the workers of isolated tools. */
  async close(): Promise<void> {
    await Promise.all([...this.#tools.all()].map(({ handler }) => handler[Symbol.asyncDispose]?.()));
  }

  #catalogue(kind: OfferKind): Catalogue<OfferItems[OfferKind], ServedOffer> {
    const all = {
      tools: this.#tools,
      prompts: this.#prompts,
      resources: this.#resources,
      resourceTemplates: this.#templates,
    };
    // Each catalogue only contains items of its own kind.
    return all[kind] as unknown as Catalogue<OfferItems[OfferKind], ServedOffer>;
  }

  #toolChanged(name: string, tool: ToolOffer | undefined): void {
    for (const layer of this.#layers.all()) layer.toolChanged?.(name, tool);
  }

  #changed(kind: OfferKind): void {
    this.used.add(OFFER_KINDS[kind].capability);
    for (const listener of this.#listeners) listener([kind]);
  }
}

function callerOf({ exchange }: SourceCall): VisibilityCaller {
  return { auth: exchange.principal ?? exchange.peer?.principal };
}

/** The kind of a value created by `tool`, `prompt`, `resource` or `resourceTemplate`. */
export const KIND_OF_VALUE: Readonly<Record<Offer["kind"], OfferKind>> = {
  tool: "tools",
  prompt: "prompts",
  resource: "resources",
  resourceTemplate: "resourceTemplates",
};

/** The names of the kinds in errors. */
export const LABELS: Readonly<Record<OfferKind, string>> = {
  tools: "tool",
  prompts: "prompt",
  resources: "resource",
  resourceTemplates: "resource template",
};

function kindOf(kind: Offer["kind"]): OfferKind {
  if (Object.hasOwn(KIND_OF_VALUE, kind)) return KIND_OF_VALUE[kind];
  throw unknownKind(kind);
}

/**
 * Checks the name and the handler at run time, because JavaScript programs tend to omit the definition and pass the
 * handler second.
 */
function withHandler<O extends Offer>(offer: O, handler: unknown): O {
  const label = LABELS[kindOf(offer.kind)];
  if (typeof offer.name !== "string" || offer.name === "") {
    throw new McpError("invalid_definition", `the name or URI of a ${label} must not be empty`);
  }
  if (typeof handler === "function") return offer;
  throw new McpError("invalid_definition", `the ${label} "${offer.name}" has no handler`, {
    fix: "Pass a name or URI, a definition (`{}` is enough) and a function.",
  });
}

function unknownKind(what: unknown): McpError {
  const kind = typeof what === "string" ? what : (what as { kind?: unknown } | null)?.kind;
  return new McpError(
    "invalid_definition",
    `${JSON.stringify(kind) ?? "undefined"} is not a kind that a server can offer`,
    {
      fix: "Pass values created by `tool`, `resource`, `resourceTemplate` or `prompt`.",
    },
  );
}

function servedPrompt(ready: ReadyPrompt): ServedPrompt {
  return {
    ...ready,
    run(call: ServerCall) {
      const parsed = ready.parse(stringValues(ready.key, call.objectParam("arguments")));
      return whenReady<ParseResult, GetPromptResult>(parsed, (settled) => runPrompt(ready, settled, call));
    },
    complete: (call) => completeArgument(`the prompt "${ready.key}"`, ready.arguments, call),
  };
}

function runPrompt(
  { key, item, handler }: ReadyPrompt,
  parsed: ParseResult,
  { ctx }: SourceCall,
): MaybePromise<GetPromptResult> {
  if (!parsed.ok) throw badArguments(key, parsed);
  return whenReady(handler(parsed.value, ctx), (settled) => toPromptResult(key, settled, item.description));
}

function stringValues(name: string, args: Record<string, unknown>): Record<string, string> {
  const odd = Object.entries(args).find(([, value]) => typeof value !== "string");
  if (odd === undefined) return args as Record<string, string>;
  throw new McpError("invalid_params", `the argument "${odd[0]}" of prompt "${name}" must be a string`);
}

function servedResource(ready: ReadyResource): ServedResource {
  const { key: uri, item, read } = ready;
  return {
    ...ready,
    run: ({ ctx }) => contentsOf(uri, read(uri, ctx), item.mimeType),
    complete: (call) => completeArgument(`the resource "${uri}"`, new Map(), call),
  };
}

/** Serves a template. A template can be listed and completed, but only its resources can be read. */
function servedTemplate(ready: ReadyTemplate): ServedTemplate {
  return {
    ...ready,
    run: () => {
      throw new McpError("invalid_params", `"${ready.key}" is a template: read a URI that matches it`);
    },
    complete: (call) => completeArgument(`the resource "${ready.key}"`, ready.variables, call),
  };
}

/** Serves a resource of a template. */
function member(template: ReadyTemplate, uri: string, variables: MatchedVariables): FoundOffer {
  const check = () => {
    const bad = badVariable(template, variables);
    if (bad === undefined) return;
    throw new McpError("invalid_params", `the variable "${bad}" of ${template.key} leads out of its folder`, {
      data: { uri, variable: bad },
      fix: "If the handler is safe with such values, set `allowTraversal` in the template's definition.",
    });
  };
  return {
    scopes: template.scopes,
    cache: template.cache,
    check,
    run({ ctx }) {
      check();
      return contentsOf(uri, template.read(variables, ctx, uri), template.item.mimeType);
    },
    complete: (call) => completeArgument(`the resource "${uri}"`, template.variables, call),
  };
}

/**
 * Returns the name of a variable whose value could make a handler read outside its folder.
 *
 * Spec: Resources, "Security Considerations",
 * https://modelcontextprotocol.io/specification/2026-07-28/server/resources#security-considerations
 */
function badVariable({ allowTraversal }: ReadyTemplate, variables: MatchedVariables): string | undefined {
  if (allowTraversal) return undefined;
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value === "string" ? hasTraversal(value) : hasTraversal(value.join("/"))) return name;
  }
  return undefined;
}

function contentsOf(uri: string, value: unknown, mimeType: string | undefined): MaybePromise<ReadResourceResult> {
  return whenReady(value, (contents) => toResourceResult(uri, contents, mimeType));
}

function listedMember({ parts, item }: ReadyTemplate, { variables, ...listed }: ListedResource): Resource {
  const uri = listed.uri ?? expandUriTemplate(parts, variables ?? {});
  const type = item.mimeType === undefined ? {} : { mimeType: item.mimeType };
  return { ...type, ...listed, uri, name: listed.name ?? uri };
}
