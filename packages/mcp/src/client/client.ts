import type { Params } from "../jsonrpc/message.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { Implementation } from "../protocol/implementation.js";
import type { CallToolResult, ListToolsResult, Tool } from "../protocol/tools.js";
import type { Caller } from "./caller.js";
import type { Link } from "./link.js";
import type { CallOptions } from "./options.js";
import { walkPages } from "./pages.js";
import type { ConnectionState } from "./state-machine.js";
import { callTool, listTools, toolValue } from "./tools.js";

/** What a typed client knows of one tool. */
export interface KnownTool {
  args: unknown;
  result: unknown;
}

/** Tools of a server that is known only at run time. */
export interface LooseTools {
  [name: string]: { args: Record<string, unknown>; result: unknown };
}

/** The arguments of a call; may be left out when the tool needs none. */
// biome-ignore lint/complexity/noBannedTypes: `{} extends A` asks whether every member of A is optional
export type CallArguments<A> = {} extends A ? [args?: A, options?: CallOptions] : [args: A, options?: CallOptions];

type ArgsOf<T, N extends keyof T> = T[N] extends { args: infer A } ? A : never;
type ResultOf<T, N extends keyof T> = T[N] extends { result: infer R } ? R : never;

/** One connection to one server. Made by `connect`; usable with `await using`. */
export class Client<T = LooseTools> {
  readonly #link: Link;
  readonly #caller: Caller;

  constructor(link: Link, caller: Caller) {
    this.#link = link;
    this.#caller = caller;
  }

  get state(): ConnectionState {
    return this.#link.state;
  }

  /** Who the server says it is; unverified. */
  get serverInfo(): Implementation | undefined {
    return this.#link.established.serverInfo;
  }

  get serverCapabilities(): ServerCapabilities {
    return this.#link.established.capabilities;
  }

  /** What the server says about its use, for the model. */
  get instructions(): string | undefined {
    return this.#link.established.instructions;
  }

  get protocolVersion(): string {
    return this.#link.established.era.revision;
  }

  /** Calls a tool and gives its value: structured content, or text. A failed tool throws `McpError` of kind `tool_error`. */
  async call<N extends keyof T & string>(name: N, ...rest: CallArguments<ArgsOf<T, N>>): Promise<ResultOf<T, N>> {
    const [args, options] = rest;
    const result = await callTool(this.#caller, name, args as object | undefined, options);
    // The server's own types say what the tool gives; the value was checked against its schema there.
    return toolValue(name, result) as ResultOf<T, N>;
  }

  /** Calls a tool and gives its full result, also when the tool failed. */
  callTool(name: keyof T & string, args?: object, options?: CallOptions): Promise<CallToolResult> {
    return callTool(this.#caller, name, args, options);
  }

  /** One page of the tools. */
  listTools(cursor?: string, options?: CallOptions): Promise<ListToolsResult> {
    return listTools(this.#caller, cursor, (message) => this.#link.platform.warn(message), options);
  }

  /** All tools, one by one; pages are fetched as needed. */
  tools(options?: CallOptions): AsyncGenerator<Tool, void, undefined> {
    return walkPages("tools/list", async (cursor) => {
      const { tools, nextCursor } = await this.listTools(cursor, options);
      return { items: tools, nextCursor };
    });
  }

  /** All tools at once. */
  async allTools(options?: CallOptions): Promise<Tool[]> {
    const all: Tool[] = [];
    for await (const tool of this.tools(options)) all.push(tool);
    return all;
  }

  /** Sends any request and gives its complete result. */
  request(method: string, params?: Params, options?: CallOptions): Promise<Record<string, unknown>> {
    return this.#caller.call(method, params, options);
  }

  /** Ends the connection; everything pending rejects. */
  async close(): Promise<void> {
    await this.#link.close();
    this.#caller.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
