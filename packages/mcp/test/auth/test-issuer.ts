import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { redirectLogin } from "@parley/mcp/auth";
import {
  calculateJwkThumbprint,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
} from "jose";

/** What one request to the issuer was. */
export interface IssuerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly form: URLSearchParams;
}

/** What a test changes about an issuer that behaves well otherwise. */
export interface IssuerBehaviour {
  /** The path of the issuer, such as `/tenant`. */
  path?: string;
  /** Changes to the metadata; a member that is undefined is left out. */
  metadata?: Record<string, unknown>;
  /** Changes to the claims of access tokens. */
  claims?: JWTPayload;
  /** Seconds that tokens live. */
  expiresIn?: number;
  /** Gives refresh tokens that work once, and ends the login if one is used twice. */
  rotates?: boolean;
  /** Parameters of the redirect that ends a login; undefined leaves one out. */
  redirect?: Record<string, string | undefined>;
  /** Answers a request in place of the issuer. */
  intercept?: (request: IssuerRequest, response: ServerResponse) => boolean;
}

interface Login {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly scope: string;
  readonly resource: string;
}

/** An authorization server for tests, on this machine: it lets everybody in at once, and counts what it is asked. */
export class TestIssuer {
  readonly requests: IssuerRequest[] = [];
  readonly behaviour: IssuerBehaviour;
  origin = "";
  readonly #codes = new Map<string, Login>();
  readonly #refresh = new Map<string, Login>();
  readonly #spent = new Set<string>();
  readonly #pushed = new Map<string, URLSearchParams>();
  readonly #clients = new Map<string, string[]>();
  /** How often a refresh token was used a second time. */
  replays = 0;
  #keys: Awaited<ReturnType<typeof generateKeyPair>> | undefined;
  readonly #http = createServer((request, response) => {
    this.#handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });

  constructor(behaviour: IssuerBehaviour = {}) {
    this.behaviour = behaviour;
  }

  static async start(behaviour: IssuerBehaviour = {}): Promise<TestIssuer> {
    const issuer = new TestIssuer(behaviour);
    issuer.#keys = await generateKeyPair("ES256", { extractable: true });
    await new Promise<void>((resolve) => issuer.#http.listen(0, "127.0.0.1", resolve));
    // A server that listens on TCP has an address object.
    issuer.origin = `http://127.0.0.1:${(issuer.#http.address() as AddressInfo).port}`;
    return issuer;
  }

  get issuer(): string {
    return `${this.origin}${this.behaviour.path ?? ""}`;
  }

  close(): void {
    this.#http.close();
    this.#http.closeAllConnections();
  }

  /** Requests to one endpoint. */
  to(path: string): IssuerRequest[] {
    return this.requests.filter((request) => request.path === path);
  }

  /** A user who agrees to everything. */
  login(redirectUri = "http://127.0.0.1:1/callback") {
    return redirectLogin({
      redirectUri,
      async visit(url) {
        const { headers } = await fetch(url, { redirect: "manual" });
        return new URL(headers.get("location") ?? "", url);
      },
    });
  }

  /** An access token. */
  async token(claims: JWTPayload, header: Record<string, unknown> = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const { expiresIn = 300 } = this.behaviour;
    const all = { iss: this.issuer, sub: "ada", iat: now, exp: now + expiresIn, ...this.behaviour.claims, ...claims };
    return new SignJWT(all)
      .setProtectedHeader({ alg: "ES256", kid: "1", typ: "at+jwt", ...header })
      .sign(this.#pair().privateKey);
  }

  #pair() {
    if (this.#keys === undefined) throw new Error("the issuer was not started");
    return this.#keys;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", this.origin);
    let body = "";
    for await (const chunk of request) body += chunk;
    const entry: IssuerRequest = {
      method: request.method ?? "",
      path: url.pathname,
      headers: request.headers,
      form: request.method === "GET" ? url.searchParams : new URLSearchParams(body),
    };
    this.requests.push(entry);
    if (this.behaviour.intercept?.(entry, response) === true) return;
    if (url.pathname.includes("/.well-known/")) return json(response, 200, this.#metadata());
    switch (url.pathname) {
      case "/jwks":
        return json(response, 200, {
          keys: [{ ...(await exportJWK(this.#pair().publicKey)), kid: "1", use: "sig", alg: "ES256" }],
        });
      case "/register":
        return this.#register(response, body);
      case "/par": {
        const reference = `urn:ietf:params:oauth:request_uri:${randomUUID()}`;
        this.#pushed.set(reference, entry.form);
        return json(response, 201, { request_uri: reference, expires_in: 60 });
      }
      case "/authorize":
        return this.#authorize(
          response,
          this.#pushed.get(url.searchParams.get("request_uri") ?? "") ?? url.searchParams,
        );
      case "/token":
        return this.#token(response, entry);
      case "/revoke":
        return json(response, 200, {});
      default:
        return json(response, 404, {});
    }
  }

  #metadata(): Record<string, unknown> {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      registration_endpoint: `${this.origin}/register`,
      revocation_endpoint: `${this.origin}/revoke`,
      jwks_uri: `${this.origin}/jwks`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      authorization_response_iss_parameter_supported: true,
      dpop_signing_alg_values_supported: ["ES256"],
      ...this.behaviour.metadata,
    };
  }

  #register(response: ServerResponse, body: string): void {
    const metadata = JSON.parse(body) as { redirect_uris?: string[] };
    const id = `client-${randomUUID()}`;
    this.#clients.set(id, metadata.redirect_uris ?? []);
    json(response, 201, { ...metadata, client_id: id });
  }

  #authorize(response: ServerResponse, query: URLSearchParams): void {
    const code = randomUUID();
    const text = (name: string) => query.get(name) ?? "";
    this.#codes.set(code, {
      clientId: text("client_id"),
      redirectUri: text("redirect_uri"),
      challenge: text("code_challenge"),
      scope: text("scope"),
      resource: text("resource"),
    });
    const back = new URL(text("redirect_uri"));
    const given = { code, state: text("state"), iss: this.issuer, ...this.behaviour.redirect };
    for (const [name, value] of Object.entries(given)) if (value !== undefined) back.searchParams.set(name, value);
    response.writeHead(302, { location: back.href }).end();
  }

  async #token(response: ServerResponse, { form, headers }: IssuerRequest): Promise<void> {
    const login = this.#granted(form);
    if (typeof login === "string") return json(response, 400, { error: login });
    const proof = headers["dpop"];
    const jwk = typeof proof === "string" ? decodeProtectedHeader(proof).jwk : undefined;
    const bound = jwk === undefined ? {} : { cnf: { jkt: await calculateJwkThumbprint(jwk) } };
    const accessToken = await this.token({
      aud: login.resource,
      client_id: login.clientId,
      scope: login.scope,
      jti: randomUUID(),
      ...bound,
    });
    const refresh = this.behaviour.rotates === true ? `refresh-${randomUUID()}` : undefined;
    if (refresh !== undefined) this.#refresh.set(refresh, login);
    json(response, 200, {
      access_token: accessToken,
      token_type: jwk === undefined ? "Bearer" : "DPoP",
      expires_in: this.behaviour.expiresIn ?? 300,
      ...(login.scope === "" ? {} : { scope: login.scope }),
      ...(refresh === undefined ? {} : { refresh_token: refresh }),
    });
  }

  /** The login that a token is asked for, or the code of an error. */
  #granted(form: URLSearchParams): Login | string {
    if (form.get("grant_type") === "refresh_token") {
      const token = form.get("refresh_token") ?? "";
      const login = this.#refresh.get(token);
      if (this.#spent.has(token)) this.replays++;
      if (login === undefined || this.#spent.has(token)) return "invalid_grant";
      this.#spent.add(token);
      return login;
    }
    const code = form.get("code") ?? "";
    const login = this.#codes.get(code);
    this.#codes.delete(code);
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isOwn = login?.redirectUri === form.get("redirect_uri") && login.challenge === verifier;
    return login !== undefined && isOwn ? login : "invalid_grant";
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { "content-type": "application/json", "cache-control": "no-store" })
    .end(JSON.stringify(body));
}
