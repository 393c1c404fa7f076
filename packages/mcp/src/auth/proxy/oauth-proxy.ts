import { platform as runtimePlatform } from "#platform";
import { thrownMessage } from "../../encoding/thrown-message.js";
import type {
  Authentication,
  AuthenticationRequest,
  Principal,
  ServedDocument,
  ServerAuthorization,
} from "../../http/authentication.js";
import { fetchSender } from "../../http/fetch-sender.js";
import type { Sender } from "../../http/http.js";
import { type Platform, replacedPlatform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { checkSecret, Secrets } from "../../seal/secrets.js";
import { createMemoryStorage } from "../../storage/memory.js";
import type { Storage } from "../../storage/storage.js";
import { type ResourceServerOptions, resourceServer } from "../resource/resource-server.js";
import { boundedFetch } from "../url/bounded-fetch.js";
import { urlPolicy } from "../url/url-policy.js";
import { ClientDocuments, ProxyClients } from "./proxy-clients.js";
import { ProxyGrants, SealedJson, usedMarks } from "./proxy-grants.js";
import { type ProxyIdentity, ProxyLogin } from "./proxy-login.js";
import { errorPage, errorReply, jsonReply, pageReply } from "./proxy-reply.js";
import { ProxyTokens } from "./proxy-tokens.js";
import { RedirectRules } from "./redirect-rules.js";
import { Upstream, UpstreamAccess, type UpstreamLogin, type UpstreamOptions } from "./upstream.js";

/** Options for `oauthProxy`. */
export interface OAuthProxyOptions {
  /** The address of this server as its clients use it, for example `https://example.com/mcp`. */
  resource: string;
  /** The provider where users log in, and the one application that is registered there. */
  upstream: UpstreamOptions;
  /**
   * Seals tokens and all stored values. Must be the same on all nodes. Pass a list for rotation: the first secret seals
   * new values, and every secret of the list can open values.
   */
  secret: string | readonly string[];
  /**
   * Determines who logged in. Default: the subject of the provider's identity token, whose claims become
   * `ctx.auth.claims`.
   */
  identify?: ((login: UpstreamLogin) => ProxyIdentity | Promise<ProxyIdentity>) | undefined;
  /** Scopes that clients may request. Default: none. */
  scopes?: readonly string[] | undefined;
  /** Scopes that every request needs. Default: none. */
  requiredScopes?: readonly string[] | undefined;
  /**
   * Restricts the addresses that clients may have users redirected to, in addition to the general rules (https, http on
   * the user's machine, `redirectSchemes`). Called at every registration and every login. Default: no further
   * restriction.
   */
  allowRedirect?: ((redirectUri: string) => boolean) | undefined;
  /**
   * Custom schemes of applications on the user's machine that clients may have users redirected to, such as
   * `["cursor"]` (RFC 8252, 7.1). Any application can claim a scheme, so list only those that you know. Default: none.
   */
  redirectSchemes?: readonly string[] | undefined;
  /**
   * True if clients may use the https address of a metadata document as their id. The proxy then reads the document. A
   * function decides for each address. Default: true.
   */
  clientDocuments?: boolean | ((clientId: string) => boolean) | undefined;
  /** Name of this server on the consent page. Default: the host of `resource`. */
  name?: string | undefined;
  /** Storage for grants, shared by all nodes. Default: the memory of this process. */
  storage?: Storage | undefined;
  /** Lifetime of an access token, in milliseconds. Default: 1 h. */
  accessTokenMs?: number | undefined;
  /**
   * Lifetime of a user's grant, in milliseconds, counted from the login or the last refresh of its tokens. Default: 30
   * days.
   */
  grantMs?: number | undefined;
  /** Called for each refused request to the server, with the reason, like `onRefused` of `resourceServer`. */
  onRefused?: ResourceServerOptions["onRefused"];
  /**
   * Replaces parts of the runtime, such as `fetch` and the clock, for example in a test. Default: the runtime's own.
   */
  platform?: Partial<Platform> | undefined;
}

/** Protects a server by logins at a provider where only one application is registered. */
export interface OAuthProxy extends ServerAuthorization {
  /**
   * Returns the provider's access token of a caller, for calls to the provider. Renews the token if it has expired.
   * Undefined if the login has ended or the token could not be renewed.
   */
  upstreamToken(caller: Principal): Promise<string | undefined>;
}

type Endpoint = (request: AuthenticationRequest, body: () => Promise<string>) => Promise<ServedDocument>;

const HOUR_MS = 3_600_000;
const WELL_KNOWN = "/.well-known/oauth-authorization-server";
/** Endpoints that clients in pages of other origins use. The other endpoints are pages for the user. */
const CROSS_ORIGIN_PATHS: ReadonlySet<string> = new Set([
  WELL_KNOWN,
  "/oauth/register",
  "/oauth/token",
  "/oauth/revoke",
]);

/** Creates a sender that checks every address that a name resolves to, if the runtime supports that. */
export type SenderOf = (platform: Platform) => Sender;

/** Creates the value that `oauthProxy` returns. `senderOf` sends the requests for metadata documents of clients. */
export function createOAuthProxy(options: OAuthProxyOptions, senderOf: SenderOf): OAuthProxy {
  const { guard, access, platform, ...components } = assemble(options, senderOf);
  const endpoints = endpointsOf(components, new URL(options.resource).origin, options.scopes ?? []);
  const own = new Set(Object.keys(endpoints).map((key) => key.slice(key.indexOf(" ") + 1)));
  const unavailable = unavailableReply(platform);
  return {
    resource: options.resource,
    paths: new Set([...guard.paths, ...own]),
    authenticate: (request): Authentication | Promise<Authentication> => guard.authenticate(request),
    challenge: (needed, caller) => guard.challenge(needed, caller),
    respond(request, body) {
      const path = (request.path ?? "").split("?", 1)[0] ?? "";
      if (!own.has(path)) return guard.respond(request);
      const endpoint = endpoints[`${request.method} ${path}`];
      if (endpoint !== undefined) return endpoint(request, body).catch((error) => unavailable(path, error));
      if (request.method === "OPTIONS" && CROSS_ORIGIN_PATHS.has(path)) return preflight();
      return { status: 405, headers: {}, body: "this method is not supported here" };
    },
    upstreamToken: (caller) => access.token(caller),
  };
}

function assemble(options: OAuthProxyOptions, senderOf: SenderOf) {
  const { resource, accessTokenMs: accessMs = HOUR_MS, grantMs = 30 * 24 * HOUR_MS, scopes = [] } = options;
  const platform = replacedPlatform(runtimePlatform, options.platform);
  const { origin, host } = new URL(resource);
  checkSecret(options.secret);
  const secrets = new Secrets(platform, options.secret);
  const sealed = new SealedJson(secrets, platform, resource);
  const storage = options.storage ?? createMemoryStorage({ clock: { now: () => platform.monotonic() } });
  // Private addresses are allowed, because the operator configured the provider.
  const policy = urlPolicy({ server: resource, allowPrivateNetwork: true });
  const fetch = boundedFetch({ sender: fetchSender(platform.fetch), policy, platform });
  const grants = new ProxyGrants(storage, sealed, platform, grantMs);
  const redirects = new RedirectRules(options, platform);
  const documents = clientDocumentsOf(options, platform, senderOf);
  // Registrations are not bound to this resource, so they are valid at all proxies with the same secret. Each login
  // decides what the client may do.
  const clients = new ProxyClients({ sealed: new SealedJson(secrets, platform), redirects, documents });
  const upstream = new Upstream({
    options: options.upstream,
    redirectUri: `${origin}/oauth/callback`,
    fetch,
    policy,
    platform,
  });
  const tokens = new ProxyTokens({ issuer: origin, resource, grants, sealed, platform, accessMs, grantMs });
  const login = new ProxyLogin({
    issuer: origin,
    resource,
    service: options.name ?? host,
    scopes,
    consentUrl: `${origin}/oauth/consent`,
    ...{ clients, redirects, grants, sealed, upstream, platform },
    isFirstUse: usedMarks(storage.kv, () => platform.now()),
    identify: async (found) => (options.identify ?? identityOfSubject)(found),
  });
  const guard = resourceServer({
    resource,
    issuer: origin,
    verify: (token) => tokens.verify(token),
    scopes: options.requiredScopes,
    scopesSupported: scopes,
    name: options.name,
    onRefused: options.onRefused,
    platform: options.platform,
  });
  return {
    guard,
    clients,
    documents,
    login,
    tokens,
    platform,
    access: new UpstreamAccess({ grants, upstream, kv: storage.kv, platform }),
  };
}

/** Creates the reader of metadata documents. Strangers choose their addresses, so only public ones are contacted. */
function clientDocumentsOf(
  { resource, clientDocuments = true, platform: replaced }: OAuthProxyOptions,
  platform: Platform,
  senderOf: SenderOf,
): ClientDocuments | undefined {
  if (clientDocuments === false) return undefined;
  const sender = replaced?.fetch === undefined ? senderOf(platform) : fetchSender(platform.fetch);
  const fetch = boundedFetch({ sender, policy: urlPolicy({ server: resource }), platform });
  const allows = typeof clientDocuments === "function" ? clientDocuments : () => true;
  return new ClientDocuments({ fetch, platform, allows });
}

const WARN_MS = 60_000;

/**
 * Creates the response for an endpoint that failed, for example because of the storage. Warns at most once a minute,
 * because every request fails while the storage does.
 */
function unavailableReply(platform: Platform): (path: string, error: unknown) => ServedDocument {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (path, error) => {
    const now = platform.monotonic();
    if (now - warnedAt >= WARN_MS) platform.warn(`${path} could not be answered: ${thrownMessage(error)}`);
    if (now - warnedAt >= WARN_MS) warnedAt = now;
    const [status, retry] = [503, { "retry-after": "5" }];
    if (!CROSS_ORIGIN_PATHS.has(path))
      return pageReply(status, errorPage("This server cannot log you in now. Try again soon."), retry);
    return errorReply(status, "temporarily_unavailable", "the server cannot answer now", retry);
  };
}

/** Returns the endpoints of the authorization server, by method and path. */
function endpointsOf(
  {
    clients,
    documents,
    login,
    tokens,
  }: Pick<ReturnType<typeof assemble>, "clients" | "documents" | "login" | "tokens">,
  issuer: string,
  scopes: readonly string[],
): Readonly<Record<string, Endpoint>> {
  const metadata = jsonReply(200, metadataOf(issuer, scopes, documents !== undefined));
  const form = async (body: () => Promise<string>) => new URLSearchParams(await body());
  return {
    [`GET ${WELL_KNOWN}`]: async () => metadata,
    "POST /oauth/register": async (_request, body) => clients.register(await body()),
    "GET /oauth/authorize": async (request) => login.authorize(queryOf(request)),
    "POST /oauth/consent": async (request, body) => login.consent(request, await form(body)),
    "GET /oauth/callback": async (request) => login.callback(request, queryOf(request)),
    "POST /oauth/token": async (_request, body) => tokens.exchange(await form(body)),
    "POST /oauth/revoke": async (_request, body) => tokens.revoke(await form(body)),
  };
}

function identityOfSubject({ idToken }: UpstreamLogin): ProxyIdentity {
  const subject = idToken?.["sub"];
  if (typeof subject === "string") return { subject, claims: idToken };
  throw new McpError("misuse", "the provider issued no identity token", {
    fix: 'Request the scope "openid", or set `identify` to determine who logged in.',
  });
}

function metadataOf(issuer: string, scopes: readonly string[], readsDocuments: boolean): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    authorization_response_iss_parameter_supported: true,
    ...(readsDocuments ? { client_id_metadata_document_supported: true } : {}),
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
  };
}

function queryOf({ path = "" }: AuthenticationRequest): URLSearchParams {
  const at = path.indexOf("?");
  return new URLSearchParams(at === -1 ? "" : path.slice(at + 1));
}

function preflight(): ServedDocument {
  const headers = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "content-type, mcp-protocol-version",
  };
  return { status: 204, headers, body: "" };
}
