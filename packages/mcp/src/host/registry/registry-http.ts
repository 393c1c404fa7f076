import { isThenable } from "../../encoding/maybe-promise.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { HttpServerOptions } from "../../transport/http/server/options.js";
import { type Servable, type ServeHandle, serveHandle } from "../../transport/serve-handle.js";
import type { Endpoint } from "../../transport/transport.js";
import { absentEndpoint } from "./bound-endpoint.js";

/** An HTTP handler of one runtime, as `fetchHandler` or `nodeHandler` creates it. */
// biome-ignore lint/suspicious/noExplicitAny: the other arguments are the runtime's, and passed on as they are
export type HttpHandler = ((request: any, ...rest: any[]) => unknown) & ServeHandle;

/** Options of the HTTP handler of a registry. */
export interface RegistryHttpOptions {
  /**
   * The part of a request that names the server: the path after a prefix, a header, or the first label of the host.
   * Default: `{ path: "/mcp/" }`, so that the server `files` is at `/mcp/files`.
   */
  by?: ServerNaming | undefined;
  /**
   * The HTTP options of all servers, or a function that returns those of one server. The function is called once per
   * registration. Options that contain a server's own address, such as `publicUrl` and `auth`, need the function.
   * Default: none.
   */
  http?: HttpServerOptions | ((name: string) => HttpServerOptions) | undefined;
}

/** The part of a registry that the HTTP handler uses. */
export interface RegistryView {
  find(name: string): Servable | undefined;
  list(): readonly { readonly name: string }[];
  bind(name: string): { endpoint(): Endpoint; unbind(): void };
  on(listener: (event: { readonly type: string; readonly name: string }) => void): () => void;
}

interface ServerHandler<H> {
  readonly handler: H;
  readonly options: HttpServerOptions;
  unbind(): void;
}

/** Routes each request to the handler of its server. Handlers are created on first use. */
export class RegistryHttp<H extends HttpHandler> {
  readonly handler: H;
  readonly #registry: RegistryView;
  readonly #warn: (text: string) => void;
  readonly #make: (servable: Servable, options?: HttpServerOptions) => H;
  readonly #nameOf: (request: NamedRequest) => RequestedName;
  readonly #http: NonNullable<RegistryHttpOptions["http"]>;
  readonly #served = new Map<string, ServerHandler<H>>();
  /** Answers requests that name no known server, after the checks that every request must pass. */
  readonly #unknown: H;
  readonly #broken: H;
  /** The servers by the paths of their authorization documents. Recomputed after each change in the registry. */
  #documents: Map<string, string> | undefined;
  /** The names by their lower case. Recomputed after each change in the registry. */
  #names: Map<string, string> | undefined;
  #ending = false;

  constructor(
    registry: RegistryView,
    warn: (text: string) => void,
    make: (servable: Servable, options?: HttpServerOptions) => H,
    options: RegistryHttpOptions,
  ) {
    checkOptions("the handler of a registry", options, "by http");
    if (typeof make !== "function") throw missingFactory();
    const { by, http = {} } = options;
    this.#registry = registry;
    this.#warn = warn;
    this.#make = make;
    this.#nameOf = serverNaming(by);
    this.#http = http;
    const common = typeof http === "function" ? {} : http;
    this.#unknown = make(absentEndpoint("the request does not name a registered server", 404), common);
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
    // Safe: `route` accepts the arguments of the handlers that `make` returns, and passes them on.
    this.handler = Object.assign(route, ends) as unknown as H;
  }

  #handlerOf(request: NamedRequest): H {
    const { name: written, rest, ignoreCase = false } = this.#nameOf(request);
    const name = written !== undefined && ignoreCase ? this.#registeredName(written) : written;
    if (name !== undefined && this.#registry.find(name) !== undefined) {
      const served = this.#serve(name);
      if (served === undefined) return this.#broken;
      if (rest === "" || served.options.legacySse !== undefined) return served.handler;
    }
    return this.#byDocument(request) ?? this.#unknown;
  }

  #registeredName(name: string): string | undefined {
    this.#names ??= new Map(this.#registry.list().map((one) => [one.name.toLowerCase(), one.name]));
    return this.#names.get(name);
  }

  #serve(name: string): ServerHandler<H> | undefined {
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
    // Ignores a rejection, because the options could not be used anyway.
    Promise.resolve(options).catch(() => {});
    throw new McpError("invalid_definition", "`http` returned a promise", { fix: "Return the options themselves." });
  }

  /**
   * Finds the server of an authorization document. Such documents have separate paths, which contain the server's path.
   */
  #byDocument(request: NamedRequest): H | undefined {
    // Without a function all servers share one `auth`. Its documents have one address, which therefore does not
    // identify a server.
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

function missingFactory(): McpError {
  return new McpError("invalid_definition", "the handler of a registry needs a function that creates HTTP handlers", {
    fix: "Pass `nodeHandler` of `@parley/mcp/node`, or `fetchHandler`.",
  });
}

/** The part of a request that names its server. Set exactly one of the members. */
export type ServerNaming =
  | {
      /** A prefix of the path, which begins and ends with `/`. The name is the segment after it. */
      readonly path: string;
    }
  | {
      /** The name of the header whose value is the server's name. */
      readonly header: string;
    }
  | {
      /** The domain whose subdomains are the names: `example.com` for `files.example.com`. */
      readonly host: string;
    };

/**
 * The parts of a request from which the registry reads the server's name. The request may come from `node:http`, a
 * framework built on it, or `fetch`.
 */
export interface NamedRequest {
  /** The path with its query, or the whole URL. */
  readonly url?: string | undefined;
  /** The whole path. Frameworks remove the mount path from `url` and keep the original here. */
  readonly originalUrl?: unknown;
  /** The headers, as an object with `get` or by lower-case name. */
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The name in a request, and the path after it. */
export interface RequestedName {
  readonly name: string | undefined;
  readonly rest: string;
  /** True if the name comes from a host name, where case does not matter. */
  readonly ignoreCase?: boolean;
}

/**
 * Returns the function that reads the server's name from a request. Throws `invalid_definition` for an invalid naming.
 */
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
    // Not decoded: valid names need no escapes, and a proxy may decode differently.
    if (end < 0) return { name: path.slice(prefix.length), rest: "" };
    return { name: path.slice(prefix.length, end), rest: path.slice(end) };
  };
}

function byHeader(header: string): (request: NamedRequest) => RequestedName {
  return (request) => ({ name: headerOf(request, header), rest: "" });
}

function byHost(domain: string): (request: NamedRequest) => RequestedName {
  return (request) => {
    // Some runtimes omit the `host` header of `fetch` requests, because the URL has the host.
    const address = request.url ?? "";
    const host = headerOf(request, "host") ?? (URL.canParse(address) ? new URL(address).host : "");
    const plain = host.toLowerCase().replace(/:\d+$/, "");
    return { name: plain.endsWith(domain) ? plain.slice(0, -domain.length) : undefined, rest: "", ignoreCase: true };
  };
}

function headerOf({ headers }: NamedRequest, name: string): string | undefined {
  if (typeof headers.get === "function") return headers.get(name) ?? undefined;
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name];
  return typeof value === "string" ? value : value?.[0];
}
