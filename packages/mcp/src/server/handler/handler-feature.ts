import { promisesObject } from "../../era/wrapped-output.js";
import { isObject } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { CompleteRequestParams } from "../../protocol/features/completion.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import type { ServerFacts } from "../call/facts.js";
import type { Pipeline } from "../call/pipeline.js";
import type { ServerCall } from "../call/server-call.js";
import { completed } from "../lists/completion.js";
import type { Feature, MethodHandler } from "../lists/feature.js";
import type { Registry } from "../lists/registry.js";
import type { ServerOptions } from "../options.js";
import { toPromptResult } from "../prompts/prompt-result.js";
import { toResourceResult } from "../resources/resource-result.js";
import type { ToolCalls } from "../tools/call.js";
import { fromWireResult } from "../tools/result.js";
import { resultLimit } from "../tools/result-limit.js";
import { has, type ServerHandler } from "./server-handler.js";

/** The handler methods that turn each capability on. */
const OFFERS = {
  tools: ["listTools", "callTool"],
  resources: ["listResources", "listResourceTemplates", "readResource"],
  prompts: ["listPrompts", "getPrompt"],
  completions: ["complete"],
} as const satisfies Record<string, readonly (keyof ServerHandler)[]>;

/** More tools are served too, only without a memory of their output schemas. */
const MOST_TOOLS = 10_000;

type Offered = keyof typeof OFFERS;

const isOffered = (name: string): name is Offered => Object.hasOwn(OFFERS, name);

/** Serves the methods of a handler object, instead of offers that are registered one by one. */
export class HandlerFeature implements Feature {
  readonly #facts: ServerFacts;
  readonly #calls: ToolCalls;
  readonly #handler: ServerHandler;
  /** The listed tools whose output schema does not promise an object. */
  readonly #wrapping = new Set<string>();
  readonly handlers: Readonly<Record<string, MethodHandler>>;

  constructor(facts: ServerFacts, registry: Registry, calls: ToolCalls, handler: ServerHandler) {
    this.#facts = facts;
    this.#calls = calls;
    this.#handler = handler;
    this.handlers = {
      ...(this.#offers("tools") ? this.#tools() : {}),
      ...(this.#offers("resources") ? this.#resources() : {}),
      ...(this.#offers("prompts") ? this.#prompts() : {}),
      ...(this.#offers("completions") ? { "completion/complete": (call) => this.#complete(call) } : {}),
    };
    for (const name of Object.keys(OFFERS)) if (isOffered(name) && this.#offers(name)) registry.provided.add(name);
    for (const name of Object.keys(handler.capabilities ?? {})) {
      if (isOffered(name) && !this.#offers(name)) {
        facts.platform.warn(`the handler declares "${name}" but has none of ${OFFERS[name].join(", ")}`);
      }
    }
  }

  capabilities(): ServerCapabilities {
    const changes = this.#facts.options.listChanged === false ? {} : { listChanged: true };
    const subscribe = has(this.#handler, "subscribe") ? { subscribe: true } : {};
    return {
      ...(this.#offers("tools") ? { tools: changes } : {}),
      ...(this.#offers("resources") ? { resources: { ...subscribe, ...changes } } : {}),
      ...(this.#offers("prompts") ? { prompts: changes } : {}),
      ...(this.#offers("completions") ? { completions: {} } : {}),
      ...this.#handler.capabilities,
    };
  }

  reasons(): Readonly<Record<string, string>> {
    const reasons: Record<string, string> = {};
    for (const [name, methods] of Object.entries(OFFERS)) reasons[name] = this.#reason(methods);
    reasons["resources.subscribe"] = this.#reason(["subscribe"]);
    reasons["logging"] = this.#reason(["setLogLevel"]);
    for (const name of Object.keys(this.#handler.capabilities ?? {})) reasons[name] = "the handler declares it";
    return reasons;
  }

  #reason(methods: readonly (keyof ServerHandler)[]): string {
    const present = methods.filter((method) => has(this.#handler, method));
    if (present.length > 0) return `the handler has ${present.join(" and ")}`;
    return `the handler has no ${methods.join(", no ")}`;
  }

  #offers(name: Offered): boolean {
    return OFFERS[name].some((method) => has(this.#handler, method));
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
        const value: unknown = await this.#method("readResource", "resource", uri)(uri, call.ctx);
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
        const value = await this.#method("getPrompt", "prompt", name)(name, args as Record<string, string>, call.ctx);
        return toPromptResult(name, value, undefined);
      },
    };
  }

  #list(
    method: "listTools" | "listResources" | "listResourceTemplates" | "listPrompts",
    member: string,
  ): MethodHandler {
    const purpose = `cursor handler ${member}`;
    return async (call) => {
      const { secrets } = this.#facts;
      const { cursor } = call.request.params;
      const opened = typeof cursor === "string" ? secrets.verify(purpose, cursor) : undefined;
      if (cursor !== undefined && opened === undefined) {
        throw new McpError("invalid_params", `the cursor of ${call.request.method} was not issued by this server`, {
          fix: "List again without a cursor.",
        });
      }
      const listed = (await this.#handler[method]?.(opened, call.ctx)) ?? [];
      // All four results are a list, or an object with the list and an optional cursor.
      const page = (Array.isArray(listed) ? { [member]: listed } : listed) as { tools?: unknown; nextCursor?: string };
      if (Array.isArray(page.tools)) this.#learn(page.tools);
      return page.nextCursor === undefined ? page : { ...page, nextCursor: secrets.sign(purpose, page.nextCursor) };
    };
  }

  /** What a tool's calls give follows its listed schema, which the handler tells nowhere else. */
  #learn(tools: readonly unknown[]): void {
    for (const tool of tools) {
      if (!isObject(tool) || typeof tool["name"] !== "string") continue;
      const wraps = isObject(tool["outputSchema"]) && !promisesObject(tool["outputSchema"]);
      if (wraps && this.#wrapping.size < MOST_TOOLS) this.#wrapping.add(tool["name"]);
      else this.#wrapping.delete(tool["name"]);
    }
  }

  #callTool(call: ServerCall): CallToolResult | Promise<CallToolResult> {
    const name = call.stringParam("name");
    const callTool = this.#method("callTool", "tool", name);
    if (this.#wrapping.has(name)) call.root.request.wrapsOutput = true;
    const policy = this.#facts.options.tools ?? {};
    const tool = {
      name,
      output: undefined,
      timeoutMs: policy.timeoutMs,
      limit: undefined,
      resultLimit: resultLimit(name, policy),
      // Safe: `run` passes on the arguments given to it below, which are an object.
      handler: async (args: unknown) => fromWireResult(await callTool(name, args as Record<string, unknown>, call.ctx)),
    };
    return this.#calls.run(tool, call.objectParam("arguments"), call);
  }

  async #complete(call: ServerCall): Promise<object> {
    // The two members are checked here; the handler checks what is in them, and an error it throws is the answer.
    const request = call.request.params as unknown as CompleteRequestParams;
    if (!isObject(request.ref) || !isObject(request.argument)) {
      throw new McpError("invalid_params", "completion/complete needs `ref` and `argument`");
    }
    const completions = (await this.#handler.complete?.(request, call.ctx)) ?? [];
    return "completion" in completions ? completions : completed("the argument", completions);
  }

  #method<M extends "callTool" | "readResource" | "getPrompt">(
    method: M,
    kind: string,
    name: string,
  ): NonNullable<ServerHandler[M]> {
    const handle = this.#handler[method];
    if (handle === undefined) throw new McpError("invalid_params", `unknown ${kind}: ${name}`);
    // Bound, because handlers are often class instances; binding keeps the signature.
    return handle.bind(this.#handler) as NonNullable<ServerHandler[M]>;
  }
}

/** The options of a server, completed by what the methods of its handler object imply. */
export function handlerOptions(
  handler: ServerHandler,
  options: ServerOptions,
  warn: (line: string) => void,
): ServerOptions {
  return {
    ...options,
    subscribe: options.subscribe ?? has(handler, "subscribe"),
    logging: options.logging ?? has(handler, "setLogLevel"),
    onSubscribe(uri) {
      callHook(warn, "onSubscribe", () => options.onSubscribe?.(uri));
      callHook(warn, "subscribe", () => handler.subscribe?.(uri));
    },
    onUnsubscribe(uri) {
      callHook(warn, "onUnsubscribe", () => options.onUnsubscribe?.(uri));
      callHook(warn, "unsubscribe", () => handler.unsubscribe?.(uri));
    },
    onLogLevel(level, ctx) {
      callHook(warn, "onLogLevel", () => options.onLogLevel?.(level, ctx));
      callHook(warn, "setLogLevel", () => handler.setLogLevel?.(level, ctx));
    },
  };
}

/** Makes requests wait for `init`, and `close` call `terminate`. */
export function prepareHandler(pipeline: Pipeline, handler: ServerHandler): void {
  let opening: Promise<void> | undefined;
  const begin = async () => {
    await handler.init?.();
    // Unless the server was closed in the meantime.
    if (pipeline.gate === gate) pipeline.gate = undefined;
  };
  const gate = () => {
    if (opening !== undefined) return opening;
    const attempt = begin();
    opening = attempt;
    // The next request tries again, because the cause of the failure may be temporary.
    attempt.catch(() => {
      opening = undefined;
    });
    return attempt;
  };
  if (has(handler, "init")) pipeline.gate = gate;
  pipeline.closers.push(async () => {
    const ran = opening === undefined ? !has(handler, "init") : await opening.then(yes, no);
    if (ran) await handler.terminate?.();
  });
}

const yes = () => true;
const no = () => false;
