import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Client, type ClientOptions, connect, McpError, Server } from "@parley/mcp";
import { type OAuth, type OAuthOptions, oauth, redirectLogin } from "@parley/mcp/auth";
import { nodeHandler, nodeSender } from "@parley/mcp/node";
import { expect, onTestFinished } from "vitest";
import { type IssuerBehaviour, TestIssuer } from "./test-issuer.js";

type Sender = ReturnType<typeof nodeSender>;

/** How a protected server behaves towards its clients; `undefined` members behave well. */
export interface TargetBehaviour {
  /** Changes to the metadata of the resource; a member that is undefined is left out. */
  metadata?: Record<string, unknown>;
  /** The `WWW-Authenticate` header of a refusal. */
  challenge?: string | ((request: IncomingMessage) => string | undefined);
  /** The status for a request with these credentials; 200 lets it in. Default: 200 with any, 401 without. */
  admit?: (authorization: string | undefined, request: IncomingMessage) => number;
  /** Answers a request in place of the server. */
  intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** What arrived at the server. */
export interface TargetRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
}

/** A server for attacks on clients: it wants a token, believes any, and can lie about everything. */
export class ClientTarget {
  readonly requests: TargetRequest[] = [];
  readonly behaviour: TargetBehaviour;
  readonly issuer: TestIssuer;
  origin = "";
  readonly #mcp = nodeHandler(new Server({ name: "shop", version: "1" }).tool("who", () => "ada"));
  readonly #http = createServer((request, response) => this.#handle(request, response));

  constructor(issuer: TestIssuer, behaviour: TargetBehaviour) {
    this.issuer = issuer;
    this.behaviour = behaviour;
  }

  static async start(behaviour: TargetBehaviour = {}, issued: IssuerBehaviour = {}): Promise<ClientTarget> {
    const target = new ClientTarget(await TestIssuer.start(issued), behaviour);
    await new Promise<void>((resolve) => target.#http.listen(0, "127.0.0.1", resolve));
    // A server that listens on TCP has an address object.
    target.origin = `http://127.0.0.1:${(target.#http.address() as AddressInfo).port}`;
    onTestFinished(() => target.close());
    return target;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  async close(): Promise<void> {
    this.issuer.close();
    this.#http.close();
    this.#http.closeAllConnections();
    await this.#mcp.close();
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "";
    this.requests.push({ method: request.method ?? "", path, headers: request.headers });
    if (this.behaviour.intercept?.(request, response) === true) return;
    if (path.startsWith("/.well-known/oauth-protected-resource")) {
      const document = {
        resource: this.url,
        authorization_servers: [this.issuer.issuer],
        ...this.behaviour.metadata,
      };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
      return;
    }
    const { authorization } = request.headers;
    const status = this.behaviour.admit?.(authorization, request) ?? (authorization === undefined ? 401 : 200);
    if (status === 200) return this.#mcp(request, response);
    const { challenge } = this.behaviour;
    const header = typeof challenge === "function" ? challenge(request) : (challenge ?? "Bearer");
    request.resume();
    response.writeHead(status, header === undefined ? {} : { "www-authenticate": header }).end();
  }
}

/** How an attempt to connect ended, and what it sent. */
export interface Attempt {
  /** What `connect` or the call threw; undefined if both succeeded. */
  readonly error: unknown;
  /** Pages that the user was sent to. */
  readonly visits: string[];
  /** Origins that requests were sent to. */
  readonly origins: ReadonlySet<string>;
}

/** What an attempt changes. */
export interface AttemptOptions {
  oauth?: OAuthOptions;
  connect?: ClientOptions;
  /** Takes the place of the sender, to answer for hosts that do not exist. */
  sender?: Sender;
  /** Changes the redirect that ends the login. */
  redirect?: (back: URL) => URL | string;
}

/** A client of a target, and what was done for it. */
export interface Opened extends Omit<Attempt, "error"> {
  readonly auth: OAuth;
  readonly client: Client;
}

/** Connects, with a user who agrees to everything. */
export async function open(
  target: ClientTarget,
  options: AttemptOptions = {},
  visits: string[] = [],
  origins = new Set<string>(),
): Promise<Opened> {
  const inner = options.sender ?? nodeSender();
  const sender: Sender = (request, onResponse, onError) => {
    origins.add(new URL(request.url).origin);
    return inner(request, onResponse, onError);
  };
  const login = redirectLogin({
    redirectUri: "http://127.0.0.1:1/callback",
    async visit(url) {
      visits.push(url.href);
      const { headers } = await fetch(url, { redirect: "manual" });
      const back = new URL(headers.get("location") ?? "", url);
      return options.redirect?.(back) ?? back;
    },
  });
  const auth = oauth({ login, ...options.oauth });
  const client = await connect(target.url, { revisions: ["2026-07-28"], sender, auth, ...options.connect });
  onTestFinished(() => client.close());
  return { auth, client, visits, origins };
}

/** Connects and makes one call. */
export async function attempt(target: ClientTarget, options: AttemptOptions = {}): Promise<Attempt> {
  const visits: string[] = [];
  const origins = new Set<string>();
  try {
    const { client } = await open(target, options, visits, origins);
    await client.call("who");
    return { error: undefined, visits, origins };
  } catch (error) {
    return { error, visits, origins };
  }
}

/** That nothing was sent but to the server and its own issuer. */
export function expectNothingElsewhere(target: ClientTarget, { origins }: Attempt): void {
  expect([...origins].filter((origin) => origin !== target.origin && origin !== target.issuer.origin)).toEqual([]);
}

/** That a client refused, and why. */
export function expectRefusal({ error }: Attempt, message: string | RegExp): void {
  expect(McpError.is(error) && error.kind).toBe("authorization_failed");
  expect(McpError.is(error) && error.message).toMatch(message);
}
