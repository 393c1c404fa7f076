import { isThenable } from "../../encoding/maybe-promise.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { HttpServerOptions } from "../../transport/http/server/options.js";
import { type Servable, type ServeHandle, serveHandle } from "../../transport/serve-handle.js";
import type { Endpoint } from "../../transport/transport.js";
import { absentEndpoint } from "./bound-endpoint.js";

/** A handler of requests of one runtime: what `fetchHandler` or `nodeHandler` makes. */
// biome-ignore lint/suspicious/noExplicitAny: the other arguments are the runtime's, and passed on as they are
export type HttpHandler = ((request: any, ...rest: any[]) => unknown) & ServeHandle;

/** How one HTTP handler serves the servers of a registry. */
export interface RegistryHttpOptions {
  /**
   * Where a request names its server: in its path after a prefix, in a header, or as the first label of its host. Default
   * `{ path: "/mcp/" }`: the server `files` is at `/mcp/files`.
   */
  by?: ServerNaming | undefined;
  /**
   * The HTTP options of every server, or a function that gives those of one; it is called once for each registration. What
   * contains a server's own address, such as `publicUrl` and `auth`, needs the function.
   */
  http?: HttpServerOptions | ((name: string) => HttpServerOptions) | undefined;
}

/** What the HTTP side needs of a registry. */
export interface Registered {
  find(name: string): Servable | undefined;
  list(): readonly { readonly name: string }[];
  bind(name: string): { endpoint(): Endpoint; unbind(): void };
  on(listener: (event: { readonly type: string; readonly name: string }) => void): () => void;
}

interface Served<H> {
  readonly handler: H;
  readonly options: HttpServerOptions;
  unbind(): void;
}

/** Gives each request to the handler of its server. Handlers are made when they are first needed. */
export class RegistryHttp<H extends HttpHandler> {
  readonly handler: H;
  readonly #registry: Registered;
  readonly #warn: (text: string) => void;
  readonly #make: (servable: Servable, options?: HttpServerOptions) => H;
  readonly #nameOf: (request: NamedRequest) => RequestedName;
  readonly #http: NonNullable<RegistryHttpOptions["http"]>;
  readonly #served = new Map<string, Served<H>>();
  /** Answers what names no server, after the checks that every request must pass. */
  readonly #unknown: H;
  readonly #broken: H;
  /** The servers by the paths of their documents, until a server comes or goes. */
  #documents: Map<string, string> | undefined;
  /** The names by their lower case, until a server comes or goes. */
  #names: Map<string, string> | undefined;
  #ending = false;

  constructor(
    registry: Registered,
    warn: (text: string) => void,
    make: (servable: Servable, options?: HttpServerOptions) => H,
    options: RegistryHttpOptions,
  ) {
    checkOptions("the handler of a registry", options, "by http");
    if (typeof make !== "function") throw noMaker();
    const { by, http = {} } = options;
    this.#registry = registry;
    this.#warn = warn;
    this.#make = make;
    this.#nameOf = serverNaming(by);
    this.#http = http;
    const common = typeof http === "function" ? {} : http;
    this.#unknown = make(absentEndpoint("the request names no server here", 404), common);
    this.#broken = make(absentEndpoint("the server cannot be reached at the moment", 503), common);
    const stop = registry.on(({ type, name }) => {
      this.#documents = undefined;
      this.#names = undefined;
      if (type === "unregistered" || type === "closed") void this.#end(name);
    });
    const all = () => [this.#unknown, this.#broken, ...[...this.#served.values()].map(({ handler }) => handler)];
    const ends = serveHandle({
      drain: async (graceMs) => {
        this.#ending = true;
        await Promise.all(all().map((one) => one.drain(graceMs)));
      },
      close: async () => {
        this.#ending = true;
        stop();
        await Promise.all(all().map((one) => one.close()));
        for (const { unbind } of this.#served.values()) unbind();
        this.#served.clear();
      },
    });
    const route = (request: NamedRequest, ...rest: unknown[]) => this.#handlerOf(request)(request, ...rest);
    // It takes what the handlers take that `make` returns, and passes it on.
    this.handler = Object.assign(route, ends) as unknown as H;
  }

  #handlerOf(request: NamedRequest): H {
    const { name: written, rest, anyCase = false } = this.#nameOf(request);
    const name = written !== undefined && anyCase ? this.#asRegistered(written) : written;
    if (name !== undefined && this.#registry.find(name) !== undefined) {
      const served = this.#serve(name);
      if (served === undefined) return this.#broken;
      if (rest === "" || served.options.legacySse !== undefined) return served.handler;
    }
    return this.#byDocument(request) ?? this.#unknown;
  }

  #asRegistered(name: string): string | undefined {
    this.#names ??= new Map(this.#registry.list().map((one) => [one.name.toLowerCase(), one.name]));
    return this.#names.get(name);
  }

  #serve(name: string): Served<H> | undefined {
    const known = this.#served.get(name);
    if (known !== undefined || this.#ending) return known;
    const binding = this.#registry.bind(name);
    try {
      const options = this.#optionsOf(name);
      const served = { handler: this.#make(binding, options), options, unbind: () => binding.unbind() };
      this.#served.set(name, served);
      return served;
    } catch (error) {
      binding.unbind();
      this.#warn(`the server "${name}" cannot be served over HTTP: ${thrownMessage(error)}`);
      return undefined;
    }
  }

  #optionsOf(name: string): HttpServerOptions {
    const options = typeof this.#http === "function" ? this.#http(name) : this.#http;
    if (!isThenable(options)) return options;
    // What it is rejected with is no news: it could not be used anyway.
    Promise.resolve(options).catch(() => {});
    throw new McpError("invalid_definition", "`http` returned a promise", { fix: "Return the options themselves." });
  }

  /** Documents of authorization have paths of their own, which contain the server's. */
  #byDocument(request: NamedRequest): H | undefined {
    // One `auth` for all has one address, which no server of many has.
    if (typeof this.#http !== "function") return undefined;
    this.#documents ??= this.#allDocuments();
    const name = this.#documents.get(pathOf(request));
    return name === undefined ? undefined : this.#serve(name)?.handler;
  }

  #allDocuments(): Map<string, string> {
    const paths = new Map<string, string>();
    for (const { name } of this.#registry.list()) {
      for (const path of this.#serve(name)?.options.auth?.paths ?? []) if (!paths.has(path)) paths.set(path, name);
    }
    return paths;
  }

  async #end(name: string): Promise<void> {
    const served = this.#served.get(name);
    if (served === undefined) return;
    this.#served.delete(name);
    served.unbind();
    await served.handler.drain();
  }
}

function noMaker(): McpError {
  return new McpError("invalid_definition", "the handler of a registry was given nothing that makes handlers", {
    fix: "Pass `nodeHandler` of `@parley/mcp/node`, or `fetchHandler`.",
  });
}

/** Where a request names its server; exactly one of these. */
export type ServerNaming =
  /** The part of the path after this prefix, which begins and ends with `/`. */
  | { readonly path: string }
  /** The value of this header. */
  | { readonly header: string }
  /** The host is the name, a dot, and this domain. */
  | { readonly host: string };

/** A request of `node:http`, of a framework built on it, or of `fetch`: what is read of it. */
export interface NamedRequest {
  readonly url?: string | undefined;
  /** Frameworks remove the mount path from `url`, and keep the whole here. */
  readonly originalUrl?: unknown;
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The name that a request gives, and what follows it in the path. */
export interface RequestedName {
  readonly name: string | undefined;
  readonly rest: string;
  /** True if it was read from where capitals mean nothing. */
  readonly anyCase?: boolean;
}

/** Makes the function that reads the server's name from a request. Throws for a naming that cannot work. */
function serverNaming(by: ServerNaming = { path: "/mcp/" }): (request: NamedRequest) => RequestedName {
  if ("path" in by && /^\/(?:[^?#]*\/)?$/.test(by.path)) return byPath(by.path);
  if ("header" in by && /^[A-Za-z0-9-]+$/.test(by.header)) return byHeader(by.header.toLowerCase());
  if ("host" in by && /^[A-Za-z0-9.-]+$/.test(by.host)) return byHost(`.${by.host.toLowerCase()}`);
  throw new McpError("invalid_definition", `\`by\` is ${JSON.stringify(by)}`, {
    fix: 'Pass `{ path: "/mcp/" }`, `{ header: "x-mcp-server" }` or `{ host: "example.com" }`.',
  });
}

/** The path of a request without its query. */
function pathOf({ url = "/", originalUrl }: NamedRequest): string {
  const whole = typeof originalUrl === "string" ? originalUrl : url;
  const path = whole.split(/[?#]/, 1)[0] ?? "/";
  return path.startsWith("/") ? path : (/^[a-z]+:\/\/[^/]*(\/.*)?$/i.exec(path)?.[1] ?? "/");
}

function byPath(prefix: string): (request: NamedRequest) => RequestedName {
  return (request) => {
    const path = pathOf(request);
    if (!path.startsWith(prefix)) return { name: undefined, rest: "" };
    const end = path.indexOf("/", prefix.length);
    // Compared as it is written: names need no escapes, so that nothing is decoded that a proxy has read otherwise.
    if (end < 0) return { name: path.slice(prefix.length), rest: "" };
    return { name: path.slice(prefix.length, end), rest: path.slice(end) };
  };
}

function byHeader(header: string): (request: NamedRequest) => RequestedName {
  return (request) => ({ name: headerOf(request, header), rest: "" });
}

function byHost(domain: string): (request: NamedRequest) => RequestedName {
  return (request) => {
    // Of `fetch`, some runtimes leave the header out because the URL has the host.
    const address = request.url ?? "";
    const host = headerOf(request, "host") ?? (URL.canParse(address) ? new URL(address).host : "");
    const plain = host.toLowerCase().replace(/:\d+$/, "");
    return { name: plain.endsWith(domain) ? plain.slice(0, -domain.length) : undefined, rest: "", anyCase: true };
  };
}

function headerOf({ headers }: NamedRequest, name: string): string | undefined {
  if (typeof headers.get === "function") return headers.get(name) ?? undefined;
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name];
  return typeof value === "string" ? value : value?.[0];
}
