import { isObject } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { CompleteRequestParams } from "../../protocol/features/completion.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import type { LoggingLevel } from "../../protocol/logging.js";
import type { ParseResult } from "../../schema/parse.js";
import type { ServerFacts } from "../call/facts.js";
import type { Feature, MethodHandler } from "../call/feature.js";
import type { Registry } from "../call/registry.js";
import type { ServerCall } from "../call/server-call.js";
import type { ServerOptions } from "../contract/options.js";
import { toPromptResult } from "../prompts/prompt-result.js";
import { toResourceResult } from "../resources/resource-result.js";
import { completed } from "../sources/completion.js";
import type { ToolCalls } from "../tools/call.js";
import type { OutputParser } from "../tools/ready-tool.js";
import { fromWireResult } from "../tools/result.js";
import { resultLimit } from "../tools/result-limit.js";
import type { HandlerObjects } from "./handler-objects.js";
import type { HandlerSubscriptions } from "./handler-subscriptions.js";
import { type DescribedTool, ListedTools, type ListPage } from "./listed-tools.js";
import { has, type ServerHandler } from "./server-handler.js";

/** The handler methods that turn each capability on. */
const OFFERS = {
  tools: ["listTools", "callTool"],
  resources: ["listResources", "listResourceTemplates", "readResource"],
  prompts: ["listPrompts", "getPrompt"],
  completions: ["complete"],
} as const satisfies Record<string, readonly (keyof ServerHandler)[]>;

type Offered = keyof typeof OFFERS;

const isOffered = (name: string): name is Offered => Object.hasOwn(OFFERS, name);

/** What serves the calls of a server that is made from a handler. */
export interface HandlerParts {
  readonly objects: HandlerObjects;
  readonly subscriptions: HandlerSubscriptions;
}

/** Serves the methods of a handler object, instead of offers that are registered one by one. */
export class HandlerFeature implements Feature {
  readonly #facts: ServerFacts;
  readonly #calls: ToolCalls;
  readonly #objects: HandlerObjects;
  readonly #shape: ServerHandler;
  readonly #listed: ListedTools;
  readonly needsSession = true;
  readonly handlers: Readonly<Record<string, MethodHandler>>;

  constructor(facts: ServerFacts, registry: Registry, calls: ToolCalls, parts: HandlerParts) {
    this.#facts = facts;
    this.#calls = calls;
    this.#objects = parts.objects;
    this.#shape = parts.objects.shape;
    this.#listed = new ListedTools(facts);
    const base = new Map(registry.handlers);
    this.handlers = {
      ...(has(this.#shape, "subscribe") ? parts.subscriptions.handlers((method) => base.get(method)) : {}),
      ...(parts.objects.perSession ? { "logging/setLevel": this.#setLevel(base.get("logging/setLevel")) } : {}),
      ...(this.#offers("tools") ? this.#tools() : {}),
      ...(this.#offers("resources") ? this.#resources() : {}),
      ...(this.#offers("prompts") ? this.#prompts() : {}),
      ...(this.#offers("completions") ? { "completion/complete": (call) => this.#complete(call) } : {}),
    };
    for (const name of Object.keys(OFFERS)) if (isOffered(name) && this.#offers(name)) registry.provided.add(name);
    for (const name of Object.keys(this.#shape.capabilities ?? {})) {
      if (isOffered(name) && !this.#offers(name)) {
        facts.platform.warn(`the handler declares "${name}" but has none of ${OFFERS[name].join(", ")}`);
      }
    }
  }

  capabilities(): ServerCapabilities {
    const changes = this.#facts.options.listChanged === false ? {} : { listChanged: true };
    const subscribe = this.#facts.options.subscribe === true ? { subscribe: true } : {};
    return {
      ...(this.#offers("tools") ? { tools: changes } : {}),
      ...(this.#offers("resources") ? { resources: { ...subscribe, ...changes } } : {}),
      ...(this.#offers("prompts") ? { prompts: changes } : {}),
      ...(this.#offers("completions") ? { completions: {} } : {}),
      ...this.#shape.capabilities,
    };
  }

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

  #offers(name: Offered): boolean {
    return OFFERS[name].some((method) => has(this.#shape, method));
  }

  #tools(): Record<string, MethodHandler> {
    return { "tools/list": this.#list("listTools", "tools"), "tools/call": (call) => this.#callTool(call) };
  }

  #resources(): Record<string, MethodHandler> {
    return {
      "resources/list": this.#list("listResources", "resources"),
      "resources/templates/list": this.#list("listResourceTemplates", "resourceTemplates"),
      "resources/read": async (call) => {
        const uri = call.stringParam("uri");
        const readResource = await this.#method("readResource", "resource", uri, call);
        const value: unknown = await readResource(uri, call.ctx);
        return isObject(value) && Array.isArray(value["contents"]) ? value : toResourceResult(uri, value, undefined);
      },
    };
  }

  #prompts(): Record<string, MethodHandler> {
    return {
      "prompts/list": this.#list("listPrompts", "prompts"),
      "prompts/get": async (call) => {
        const name = call.stringParam("name");
        const args = call.objectParam("arguments");
        const odd = Object.entries(args).find(([, value]) => typeof value !== "string");
        if (odd !== undefined) throw new McpError("invalid_params", `the argument "${odd[0]}" must be a string`);
        // Safe: no value is anything but a string.
        const getPrompt = await this.#method("getPrompt", "prompt", name, call);
        const value = await getPrompt(name, args as Record<string, string>, call.ctx);
        return toPromptResult(name, value, undefined);
      },
    };
  }

  #list(
    method: "listTools" | "listResources" | "listResourceTemplates" | "listPrompts",
    member: "tools" | "resources" | "resourceTemplates" | "prompts",
  ): MethodHandler {
    const purpose = `cursor handler ${member}`;
    return async (call) => {
      const { secrets, hints } = this.#facts;
      call.cache = hints[member];
      const { cursor } = call.request.params;
      const opened = typeof cursor === "string" ? secrets.verify(purpose, cursor) : undefined;
      if (cursor !== undefined && opened === undefined) {
        throw new McpError("invalid_params", `the cursor of ${call.request.method} was not issued by this server`, {
          fix: "List again without a cursor.",
        });
      }
      const object = await this.#objects.of(call);
      const listed = (await object[method]?.(opened, call.ctx)) ?? [];
      // All four results are a list, or an object with the list and an optional cursor.
      const page = (Array.isArray(listed) ? { [member]: listed } : listed) as { tools?: unknown; nextCursor?: string };
      if (Array.isArray(page.tools)) this.#listed.learn(page.tools);
      return page.nextCursor === undefined ? page : { ...page, nextCursor: secrets.sign(purpose, page.nextCursor) };
    };
  }

  async #callTool(call: ServerCall): Promise<CallToolResult> {
    const name = call.stringParam("name");
    const args = call.objectParam("arguments");
    const callTool = await this.#method("callTool", "tool", name, call);
    const list: ListPage = async (cursor) => this.#toolPage(cursor, call);
    const listed = await this.#listed.find(name, list);
    if (listed.wrapsOutput) call.root.request.wrapsOutput = true;
    if (listed.headers.length > 0) await this.#checkHeaders(listed, name, args, list, call);
    const policy = this.#facts.options.tools ?? {};
    const tool = {
      name,
      output: listed.output && this.#outputOf(listed.output, name, list),
      timeoutMs: policy.timeoutMs,
      limit: undefined,
      resultLimit: resultLimit(name, policy),
      // Safe: `run` passes on the arguments given to it below, which are an object.
      handler: async (given: unknown) =>
        fromWireResult(await callTool(name, given as Record<string, unknown>, call.ctx)),
    };
    return this.#calls.run(tool, args, call);
  }

  async #toolPage(cursor: string | undefined, call: ServerCall): ReturnType<ListPage> {
    const listed = (await (await this.#objects.of(call)).listTools?.(cursor, call.ctx)) ?? [];
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
      // What is known may be what another caller sees, or outdated.
      check(await this.#listed.lookUp(name, list));
    }
  }

  /** Checks the value that is sent, again with the list as this caller sees it before it is refused. */
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

  #setLevel(base: MethodHandler | undefined): MethodHandler {
    return async (call) => {
      const answer = (await base?.(call)) ?? {};
      const object = await this.#objects.of(call);
      // Checked by the base.
      object.setLogLevel?.(call.stringParam("level") as LoggingLevel, call.ctx);
      return answer;
    };
  }

  async #complete(call: ServerCall): Promise<object> {
    // The two members are checked here; the handler checks what is in them, and an error it throws is the answer.
    const request = call.request.params as unknown as CompleteRequestParams;
    if (!isObject(request.ref) || !isObject(request.argument)) {
      throw new McpError("invalid_params", "completion/complete needs `ref` and `argument`");
    }
    const object = await this.#objects.of(call);
    const completions = (await object.complete?.(request, call.ctx)) ?? [];
    if (!("completion" in completions)) return completed("the argument", completions);
    return { ...completions, ...completed("the argument", completions.completion) };
  }

  async #method<M extends "callTool" | "readResource" | "getPrompt">(
    method: M,
    kind: string,
    name: string,
    call: ServerCall,
  ): Promise<NonNullable<ServerHandler[M]>> {
    const object = await this.#objects.of(call);
    const handle = object[method];
    if (handle === undefined) throw new McpError("invalid_params", `unknown ${kind}: ${name}`);
    // Bound, because handlers are often class instances; binding keeps the signature.
    return handle.bind(object) as NonNullable<ServerHandler[M]>;
  }
}

/** The options of a server, completed by what the methods of its handler object imply. */
export function handlerOptions(
  { objects, subscriptions }: HandlerParts,
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
