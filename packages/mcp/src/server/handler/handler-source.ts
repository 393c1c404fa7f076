import { type ParamHeader, paramHeaderTable } from "../../era/param-headers.js";
import { promisesObject } from "../../era/wrapped-output.js";
import { isObject } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { compileSchema } from "../../protocol/compile-schema.js";
import { McpError } from "../../protocol/error.js";
import type { CompleteRequestParams } from "../../protocol/features/completion.js";
import { OFFER_KINDS, type OfferKind } from "../../protocol/features/offer-kinds.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import type { LoggingLevel } from "../../protocol/logging.js";
import { nextCursorOf, withoutNextCursor } from "../../protocol/message.js";
import type { ParseResult } from "../../schema/parse.js";
import type { Around } from "../call/layers.js";
import type { ServerCall } from "../call/server-call.js";
import type { ServerConfig } from "../call/server-config.js";
import type { ServerOptions } from "../contract/options.js";
import type { FoundOffer, OfferItems, OfferList, OfferPage, Source, SourceCall } from "../contract/source.js";
import { toPromptResult } from "../prompts/prompt-result.js";
import { toResourceResult } from "../resources/resource-result.js";
import { toCompleteResult } from "../sources/completion.js";
import type { ToolCalls } from "../tools/call.js";
import type { OutputParser } from "../tools/ready-tool.js";
import { fromWireResult } from "../tools/result.js";
import { resultLimit } from "../tools/result-limit.js";
import type { HandlerObjects } from "./handler-objects.js";
import type { HandlerSubscriptions } from "./handler-subscriptions.js";
import { has, type ServerHandler } from "./server-handler.js";

/** The handler methods that enable each capability. */
const OFFERS = {
  tools: ["listTools", "callTool"],
  resources: ["listResources", "listResourceTemplates", "readResource"],
  prompts: ["listPrompts", "getPrompt"],
  completions: ["complete"],
} as const satisfies Record<string, readonly (keyof ServerHandler)[]>;

type HandlerCapability = keyof typeof OFFERS;

const isHandlerCapability = (name: string): name is HandlerCapability => Object.hasOwn(OFFERS, name);

/** The handler method that lists each kind. */
const LISTS = {
  tools: "listTools",
  prompts: "listPrompts",
  resources: "listResources",
  resourceTemplates: "listResourceTemplates",
} as const satisfies Record<OfferKind, keyof ServerHandler>;

/**
 * Maximum number of pages of one list. Beyond it the request fails, because a faulty handler may return a next cursor
 * with every page.
 */
const MAX_PAGES = 1000;

/** The objects and subscriptions of a server that is created from a handler. */
export interface HandlerServices {
  readonly objects: HandlerObjects;
  readonly subscriptions: HandlerSubscriptions;
}

/** The offers of a handler object. The object does not declare its names and URIs, so any name may exist. */
export class HandlerSource implements Source {
  readonly #config: ServerConfig;
  readonly #calls: ToolCalls;
  readonly #objects: HandlerObjects;
  readonly #shape: ServerHandler;
  readonly #listed: ListedTools;

  constructor(config: ServerConfig, calls: ToolCalls, objects: HandlerObjects) {
    this.#config = config;
    this.#calls = calls;
    this.#objects = objects;
    this.#shape = objects.shape;
    this.#listed = new ListedTools(config);
    for (const name of Object.keys(this.#shape.capabilities ?? {})) {
      if (isHandlerCapability(name) && !this.#offers(name)) {
        config.platform.warn(`the handler declares "${name}" but has none of ${OFFERS[name].join(", ")}`);
      }
    }
  }

  capabilities(): ServerCapabilities {
    const changes = this.#config.options.listChanged === false ? {} : { listChanged: true };
    const subscribe = this.#config.options.subscribe === true ? { subscribe: true } : {};
    return {
      ...(this.#offers("tools") ? { tools: changes } : {}),
      ...(this.#offers("resources") ? { resources: { ...subscribe, ...changes } } : {}),
      ...(this.#offers("prompts") ? { prompts: changes } : {}),
      ...(this.#offers("completions") ? { completions: {} } : {}),
      ...this.#shape.capabilities,
    };
  }

  /** Returns the reason for each capability. */
  reasons(): Readonly<Record<string, string>> {
    const reasons: Record<string, string> = {};
    for (const [name, methods] of Object.entries(OFFERS)) reasons[name] = this.#reason(methods);
    reasons["resources.subscribe"] = this.#reason(["subscribe"]);
    reasons["logging"] = this.#reason(["setLogLevel"]);
    for (const name of Object.keys(this.#shape.capabilities ?? {})) reasons[name] = "the handler declares it";
    return reasons;
  }

  #reason(methods: readonly (keyof ServerHandler)[]): string {
    const present = methods.filter((method) => has(this.#shape, method));
    if (present.length > 0) return `the handler has ${present.join(" and ")}`;
    return `the handler has no ${methods.join(", no ")}`;
  }

  #offers(name: HandlerCapability): boolean {
    return OFFERS[name].some((method) => has(this.#shape, method));
  }

  async list(kind: OfferKind, call: SourceCall): Promise<OfferList> {
    const items: OfferItems[OfferKind][] = [];
    let cursor: string | undefined;
    for (let count = 0; count < MAX_PAGES; count++) {
      const page = await this.page(kind, cursor, call);
      // Pushed one by one, because a page may have more items than a call can have arguments. `items` is missing if the
      // handler omits the list from its result.
      for (const item of page.items ?? []) items.push(item);
      cursor = page.next;
      if (cursor === undefined) return { items };
    }
    throw new McpError("limit_exceeded", `a list has more than ${MAX_PAGES} pages`);
  }

  async page(kind: OfferKind, cursor: string | undefined, call: SourceCall): Promise<OfferPage> {
    const object = await this.#objects.objectFor(call as ServerCall);
    const listed = (await object[LISTS[kind]]?.(cursor, call.ctx)) ?? [];
    // All four results are either a list, or an object with the list and an optional cursor.
    if (Array.isArray(listed)) return this.#learned(kind, { items: listed as OfferItems[OfferKind][] });
    const { [kind]: items, ...others } = withoutNextCursor(listed as unknown as Record<string, unknown>);
    const next = nextCursorOf(listed) as string | undefined;
    return this.#learned(kind, { ...others, items: items as OfferItems[OfferKind][], next });
  }

  #learned(kind: OfferKind, page: OfferPage): OfferPage {
    if (kind === "tools" && Array.isArray(page.items)) this.#listed.learn(page.items);
    return page;
  }

  find(kind: OfferKind, name: string): FoundOffer | undefined {
    const { capability } = OFFER_KINDS[kind];
    const completes = has(this.#shape, "complete");
    if (!this.#offers(capability) && !completes) return undefined;
    return {
      assumed: true,
      // The tool's entry may not be known yet. `#callTool` checks the headers and sets `wrapsOutput` when it knows the
      // entry.
      headers: [],
      wrapsOutput: false,
      run: (call: ServerCall) => this.#run(kind, name, call),
      ...(completes && { complete: (call: ServerCall) => this.#complete(call) }),
    };
  }

  async #run(kind: OfferKind, name: string, call: ServerCall): Promise<object> {
    if (kind === "tools") return this.#callTool(name, call);
    if (kind === "prompts") return this.#getPrompt(name, call);
    const readResource = await this.#method("readResource", "resource", name, call);
    const value: unknown = await readResource(name, call.ctx);
    return isObject(value) && Array.isArray(value["contents"]) ? value : toResourceResult(name, value, undefined);
  }

  async #getPrompt(name: string, call: ServerCall): Promise<object> {
    const args = call.objectParam("arguments");
    const odd = Object.entries(args).find(([, value]) => typeof value !== "string");
    if (odd !== undefined) throw new McpError("invalid_params", `the argument "${odd[0]}" must be a string`);
    const getPrompt = await this.#method("getPrompt", "prompt", name, call);
    // Safe: the check above ensures that all values are strings.
    const value = await getPrompt(name, args as Record<string, string>, call.ctx);
    return toPromptResult(name, value, undefined);
  }

  async #callTool(name: string, call: ServerCall): Promise<CallToolResult> {
    const args = call.objectParam("arguments");
    const callTool = await this.#method("callTool", "tool", name, call);
    const list: ListPage = async (cursor) => this.#toolPage(cursor, call);
    const listed = await this.#listed.find(name, list);
    if (listed.wrapsOutput) call.root.request.wrapsOutput = true;
    if (listed.headers.length > 0) await this.#checkHeaders(listed, name, args, list, call);
    const policy = this.#config.options.tools ?? {};
    const tool = {
      name,
      output: listed.output && this.#outputOf(listed.output, name, list),
      timeoutMs: policy.timeoutMs,
      limit: undefined,
      resultLimit: resultLimit(name, policy),
      // Safe: `run` passes the arguments below, which are an object.
      handler: async (given: unknown) =>
        fromWireResult(await callTool(name, given as Record<string, unknown>, call.ctx)),
    };
    return this.#calls.run(tool, args, call);
  }

  async #toolPage(cursor: string | undefined, call: ServerCall): ReturnType<ListPage> {
    const listed = (await (await this.#objects.objectFor(call)).listTools?.(cursor, call.ctx)) ?? [];
    return "tools" in listed ? listed : { tools: listed };
  }

  async #checkHeaders(
    listed: DescribedTool,
    name: string,
    args: Record<string, unknown>,
    list: ListPage,
    call: ServerCall,
  ): Promise<void> {
    const { http } = call.exchange;
    if (http === undefined) return;
    const check = ({ headers }: DescribedTool) => call.request.era.checkArguments(headers, args, http);
    try {
      check(listed);
    } catch {
      // The stored entry may be outdated, or may come from the list of another caller. Read the list again.
      check(await this.#listed.lookUp(name, list));
    }
  }

  /**
   * Returns a parser that checks the serialised value. Before it refuses a value, the parser reads the list again as
   * this caller sees it, because the stored schema may be outdated.
   */
  #outputOf(known: OutputParser, name: string, list: ListPage): OutputParser {
    const parse = async (value: unknown): Promise<ParseResult> => {
      const sent: unknown = JSON.parse(JSON.stringify(value) ?? "null");
      const parsed = await known.parse(sent);
      if (parsed.ok) return parsed;
      const { output } = await this.#listed.lookUp(name, list);
      return output === undefined ? { ok: true, value: sent } : output.parse(sent);
    };
    return { ...known, byLibrary: true, parse };
  }

  async #complete(call: ServerCall): Promise<object> {
    // Only these two members are checked here. The handler checks their contents, and an error that it throws is the
    // answer.
    const request = call.request.params as unknown as CompleteRequestParams;
    if (!isObject(request.ref) || !isObject(request.argument)) {
      throw new McpError("invalid_params", "completion/complete needs `ref` and `argument`");
    }
    const object = await this.#objects.objectFor(call);
    const completions = (await object.complete?.(request, call.ctx)) ?? [];
    if (!("completion" in completions)) return toCompleteResult("the argument", completions);
    return { ...completions, ...toCompleteResult("the argument", completions.completion) };
  }

  async #method<M extends "callTool" | "readResource" | "getPrompt">(
    method: M,
    kind: string,
    name: string,
    call: ServerCall,
  ): Promise<NonNullable<ServerHandler[M]>> {
    const object = await this.#objects.objectFor(call);
    const handle = object[method];
    if (handle === undefined) throw new McpError("invalid_params", `unknown ${kind}: ${name}`);
    // Bound, because handlers are often class instances. Binding does not change the signature.
    return handle.bind(object) as NonNullable<ServerHandler[M]>;
  }
}

/**
 * Returns the layers that ask the handler object before subscriptions and that pass log levels to per-session objects.
 */
export function handlerArounds({ objects, subscriptions }: HandlerServices): Readonly<Record<string, Around>> {
  return {
    ...(has(objects.shape, "subscribe") ? subscriptions.arounds : {}),
    ...(objects.perSession ? { "logging/setLevel": setLevel(objects) } : {}),
  };
}

function setLevel(objects: HandlerObjects): Around {
  return async (call, next) => {
    const answer = await next(call);
    const object = await objects.objectFor(call);
    // The server has checked the level.
    object.setLogLevel?.(call.stringParam("level") as LoggingLevel, call.ctx);
    return answer;
  };
}

/** Returns the options of a server, extended by the handler's methods. */
export function handlerOptions(
  { objects, subscriptions }: HandlerServices,
  options: ServerOptions,
  warn: (line: string) => void,
): ServerOptions {
  const { shape, perSession } = objects;
  return {
    ...options,
    subscribe: options.subscribe ?? has(shape, "subscribe"),
    logging: options.logging ?? has(shape, "setLogLevel"),
    onSubscribe(uri) {
      callHook(warn, "onSubscribe", () => options.onSubscribe?.(uri));
      callHook(warn, "subscribe", () => subscriptions.subscribed(uri));
    },
    onUnsubscribe(uri) {
      callHook(warn, "onUnsubscribe", () => options.onUnsubscribe?.(uri));
      callHook(warn, "unsubscribe", () => subscriptions.unsubscribed(uri));
    },
    onLogLevel(level, ctx) {
      callHook(warn, "onLogLevel", () => options.onLogLevel?.(level, ctx));
      if (!perSession) callHook(warn, "setLogLevel", () => shape.setLogLevel?.(level, ctx));
    },
  };
}

/** The properties of a listed tool against which the server checks calls. */
export interface DescribedTool {
  readonly output: OutputParser | undefined;
  /** True if the output schema allows values other than objects. */
  readonly wrapsOutput: boolean;
  readonly headers: readonly ParamHeader[];
}

/** Reads one page of the list as the caller sees it. */
export type ListPage = (
  cursor: string | undefined,
) => Promise<{ readonly tools: readonly unknown[]; readonly nextCursor?: string | undefined }>;

/**
 * Maximum number of tools whose schemas are stored. The results and headers of further tools are not checked. Also the
 * maximum number of pages that a search reads, and of stored names of missing tools.
 */
const MAX_TOOLS = 10_000;
const UNKNOWN_TOOL: DescribedTool = { output: undefined, wrapsOutput: false, headers: [] };

/** Stores the tools in the lists of a handler object, because their schemas are available nowhere else. */
export class ListedTools {
  readonly #config: ServerConfig;
  readonly #tools = new Map<string, { text: string; tool: DescribedTool }>();
  /** Names that no page contained. */
  readonly #missing = new Set<string>();

  constructor(config: ServerConfig) {
    this.#config = config;
  }

  /** Stores the tools of one page. */
  learn(tools: readonly unknown[]): void {
    for (const tool of tools) {
      if (!isObject(tool) || typeof tool["name"] !== "string") continue;
      const { name, inputSchema, outputSchema } = tool;
      const text = JSON.stringify([inputSchema, outputSchema]);
      if (this.#tools.get(name)?.text === text) continue;
      this.#missing.delete(name);
      if (this.#tools.size < MAX_TOOLS || this.#tools.has(name)) {
        this.#tools.set(name, { text, tool: this.#compiled(name, inputSchema, outputSchema) });
      }
    }
  }

  /** Returns the stored properties of a tool. The first call to each tool searches the list. */
  async find(name: string, list: ListPage): Promise<DescribedTool> {
    const known = this.#tools.get(name)?.tool;
    if (known !== undefined || this.#missing.has(name)) return known ?? UNKNOWN_TOOL;
    // A failing list must not fail the call.
    return this.lookUp(name, list).catch(() => UNKNOWN_TOOL);
  }

  /**
   * Reads the list page by page until it finds the tool. Reads even if the tool is stored, because callers may see
   * different lists, and a list may have changed.
   */
  async lookUp(name: string, list: ListPage): Promise<DescribedTool> {
    let cursor: string | undefined;
    for (let page = 0; page < MAX_TOOLS; page++) {
      const { tools, nextCursor } = await list(cursor);
      this.learn(tools);
      if (tools.some((tool) => isObject(tool) && tool["name"] === name))
        return this.#tools.get(name)?.tool ?? UNKNOWN_TOOL;
      if (nextCursor === undefined) break;
      cursor = nextCursor;
    }
    if (this.#missing.size >= MAX_TOOLS) this.#missing.clear();
    this.#missing.add(name);
    return UNKNOWN_TOOL;
  }

  #compiled(name: string, inputSchema: unknown, outputSchema: unknown): DescribedTool {
    const table = paramHeaderTable(inputSchema);
    if ("problem" in table) this.#config.platform.warn(`tool "${name}": ${table.problem}`);
    return {
      output: isObject(outputSchema) ? this.#output(name, outputSchema) : undefined,
      wrapsOutput: isObject(outputSchema) && !promisesObject(outputSchema),
      headers: "problem" in table ? [] : table.headers,
    };
  }

  #output(name: string, schema: Record<string, unknown>): OutputParser | undefined {
    const what = `tool "${name}" output`;
    try {
      return { ...compileSchema(schema, { io: "output", what, adapter: undefined }), byLibrary: false };
    } catch (error) {
      this.#config.platform.warn(`results are not checked: ${String(error)}`);
      return undefined;
    }
  }
}
