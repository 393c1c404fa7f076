import { McpError } from "../protocol/error.js";
import type { AnySchema } from "../schema/standard.js";
import type { Endpoint } from "../transport/transport.js";
import { ServerCore } from "./core.js";
import { createEndpoint, type PeerListener } from "./dispatch.js";
import type { Middleware } from "./middleware.js";
import type { ServerInfo, ServerOptions } from "./options.js";
import type { ClientArguments, ClientResult, Tool, ToolDefinition, ToolHandler, ToolTypes } from "./tool.js";
import { tool } from "./tool.js";
import { Tools } from "./tools.js";

/** What `add` takes: anything that can be offered, as a value. */
export type Offer = Tool;

/** The tools that a list of offers brings, by name. */
export type OfferedTools<L extends readonly Offer[]> = {
  [K in L[number] as K extends Tool ? K["name"] : never]: K extends Tool<string, infer A, infer R>
    ? ToolTypes<A, R>
    : never;
};

/**
 * A list of what is offered to clients. It holds no connection: the same value serves every transport, every revision and
 * any number of clients at once.
 *
 * `T` is what typed clients learn of its tools.
 */
// biome-ignore lint/complexity/noBannedTypes: `{}` is the neutral element of the intersection that the chain builds
export class Server<T = {}> {
  /** Types only; never present at run time. */
  declare readonly types: T;
  readonly #core: ServerCore;
  readonly #tools: Tools;
  readonly #listeners: PeerListener[] = [];
  #endpoint: Endpoint | undefined;

  constructor(info: ServerInfo, options: ServerOptions = {}) {
    this.#core = new ServerCore(info, options);
    this.#tools = new Tools(this.#core);
    this.#core.addFeature(this.#tools);
  }

  /** Offers a tool. Throws at once when its name is taken or its schema cannot be used. */
  tool<
    const N extends string,
    const I extends AnySchema | undefined = undefined,
    const O extends AnySchema | undefined = undefined,
  >(
    name: N,
    definition: ToolDefinition<I, O>,
    handler: ToolHandler<NoInfer<I>, NoInfer<O>>,
  ): Server<T & { [K in N]: ToolTypes<ClientArguments<I>, ClientResult<O>> }> {
    this.#tools.add(tool(name, definition, handler));
    // The same object; only what the compiler knows of it has grown.
    return this as unknown as Server<T & { [K in N]: ToolTypes<ClientArguments<I>, ClientResult<O>> }>;
  }

  /** Offers values made by `tool` and its siblings. */
  add<const L extends readonly Offer[]>(...offers: L): Server<T & OfferedTools<L>> {
    for (const offer of offers) this.#tools.add(offer);
    return this as unknown as Server<T & OfferedTools<L>>;
  }

  /** Withdraws an offer. False when there was none of that name. */
  remove(kind: Offer["kind"], name: string): boolean {
    if (kind === "tool") return this.#tools.remove(name);
    throw new McpError("invalid_definition", `there is no kind "${String(kind)}" to remove`);
  }

  /** Adds middleware around every call; the first one added is the outermost. */
  use(...middleware: Middleware[]): this {
    this.#core.middleware.push(...middleware);
    return this;
  }

  /** What a transport serves. The same object every time. */
  endpoint(): Endpoint {
    this.#endpoint ??= createEndpoint(this.#core, this.#listeners);
    return this.#endpoint;
  }
}
