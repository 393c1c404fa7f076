import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { fetchHandler, Server } from "@parley/mcp";
import { type ResourceServerOptions, resourceServer } from "@parley/mcp/auth";

export const ISSUER = "https://login.example";
export const RESOURCE = "https://shop.example/mcp";
/** A whole second, so that seconds before and after it are exact. */
export const NOW = 1_800_000_000_000;
export const SECOND = Math.floor(NOW / 1_000);

/** Key pairs that tokens are signed with; made once, because some take long. */
export const PAIRS = {
  ec: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  other: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ec384: generateKeyPairSync("ec", { namedCurve: "P-384" }),
  rsa: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  weak: generateKeyPairSync("rsa", { modulusLength: 1024 }),
  ed: generateKeyPairSync("ed25519"),
} as const;

export type Json = Record<string, unknown>;

/** The public part of a key, as an issuer publishes it. */
export function published(key: KeyObject, more: Json = {}): Json {
  return { ...key.export({ format: "jwk" }), ...more };
}

export function encoded(part: unknown): string {
  return Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");
}

/** Signs like the algorithm that is named, with whatever key is given. */
export function signature(algorithm: string, data: string, key: KeyObject | string): Buffer {
  const bytes = Buffer.from(data);
  if (typeof key === "string")
    return createHmac(`sha${algorithm.slice(2)}`, key)
      .update(bytes)
      .digest();
  if (algorithm.startsWith("ES")) return sign(`sha${algorithm.slice(2)}`, bytes, { key, dsaEncoding: "ieee-p1363" });
  if (algorithm.startsWith("PS")) return sign(`sha${algorithm.slice(2)}`, bytes, { key, padding: 6, saltLength: 32 });
  return sign(algorithm.startsWith("RS") ? `sha${algorithm.slice(2)}` : null, bytes, key);
}

/** A token made by hand; header and payload may be texts that are no JSON. */
export interface Forged {
  header?: Json | string;
  payload?: Json | string;
  algorithm?: string;
  key?: KeyObject | string;
}

export const HEADER: Json = { alg: "ES256", kid: "ec", typ: "at+jwt" };
export const CLAIMS: Json = {
  iss: ISSUER,
  aud: RESOURCE,
  sub: "ada",
  client_id: "app",
  iat: SECOND,
  exp: SECOND + 300,
};

/** A token of which every part can be wrong; a good one by default. */
export function forge({
  header = {},
  payload = {},
  algorithm = "ES256",
  key = PAIRS.ec.privateKey,
}: Forged = {}): string {
  const head = encoded(typeof header === "string" ? header : { ...HEADER, ...header });
  const body = encoded(typeof payload === "string" ? payload : { ...CLAIMS, ...payload });
  return `${head}.${body}.${signature(algorithm, `${head}.${body}`, key).toString("base64url")}`;
}

/** What came back, as its sender sees it. */
export interface Seen {
  readonly status: number;
  readonly challenge: string | null;
  readonly body: string;
  readonly headers: Headers;
}

/** A protected server whose clock and network the test holds. */
export class TestResource {
  now = NOW;
  /** Addresses that were asked, in order. */
  readonly fetched: string[] = [];
  keys: Json[] = [
    published(PAIRS.ec.publicKey, { kid: "ec", use: "sig", alg: "ES256" }),
    published(PAIRS.rsa.publicKey, { kid: "rsa", alg: "RS256" }),
  ];
  /** Replies to what the server asks; the metadata and the keys of the issuer by default. */
  reply: (url: string, init: RequestInit | undefined) => Response | Promise<Response> = (url) => this.documents(url);
  readonly warnings: string[] = [];
  readonly auth: ReturnType<typeof resourceServer>;
  readonly #handler: ReturnType<typeof fetchHandler>;

  constructor(options: Partial<ResourceServerOptions> = {}, server = whoAmI()) {
    this.auth = resourceServer({
      resource: RESOURCE,
      issuer: ISSUER,
      ...options,
      platform: {
        fetch: async (input, init) => {
          this.fetched.push(String(input));
          return this.reply(String(input), init);
        },
        now: () => this.now,
        monotonic: () => this.now,
        // The limit of five seconds for a document passes in a tenth of one.
        timer: (ms, run) => {
          const timer = setTimeout(run, ms / 50);
          return { cancel: () => clearTimeout(timer) };
        },
        warn: (text) => this.warnings.push(text),
      },
    });
    this.#handler = fetchHandler(server, { auth: this.auth });
  }

  documents(url: string): Response {
    if (url.endsWith("/jwks")) return Response.json({ keys: this.keys });
    if (url.includes("/.well-known/")) return Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/jwks` });
    return new Response(null, { status: 404 });
  }

  /** How often the keys were asked for. */
  get keyFetches(): number {
    return this.fetched.filter((url) => url.endsWith("/jwks")).length;
  }

  /** Sends one request. */
  async send(init: RequestInit & { url?: string } = {}): Promise<Seen> {
    const { url = RESOURCE, ...rest } = init;
    const response = await this.#handler(new Request(url, rest));
    const { status, headers } = response;
    return { status, challenge: headers.get("www-authenticate"), body: await response.text(), headers };
  }

  /** Calls the tool, or another method, with the value of an Authorization header. */
  ask(authorization: string | undefined, headers: Record<string, string> = {}, message: Json = WHO): Promise<Seen> {
    return this.send({
      method: "POST",
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": String(message["method"]),
        ...nameHeader(message["params"]),
        ...(authorization === undefined ? {} : { authorization }),
        ...headers,
      },
      body: JSON.stringify(message),
    });
  }

  bearer(token: string): Promise<Seen> {
    return this.ask(`Bearer ${token}`);
  }
}

function nameHeader(params: unknown): Record<string, string> {
  const { name, uri } = params as { name?: string; uri?: string };
  const value = name ?? uri;
  return value === undefined ? {} : { "mcp-name": value };
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A message of the stateless era. */
export function message(method: string, params: Json): Json {
  return { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } };
}

const WHO = message("tools/call", { name: "who", arguments: {} });

/** A server that tells callers who they are. */
function whoAmI(): Server {
  return new Server({ name: "shop", version: "1" }).tool("who", (_args, { auth }) => JSON.stringify(auth ?? null));
}

/** What the tool answered. */
export function told({ body }: Seen): Json {
  const { result } = JSON.parse(body) as { result: { content: { text: string }[] } };
  return JSON.parse(result.content[0]?.text ?? "null") as Json;
}

/** The one answer to every token that is not accepted: nothing tells which check refused it. */
export const REFUSED = {
  status: 401,
  challenge: `Bearer error="invalid_token", resource_metadata="https://shop.example/.well-known/oauth-protected-resource/mcp"`,
  body: '{"jsonrpc":"2.0","error":{"code":-32600,"message":"the token is not accepted"}}',
};
