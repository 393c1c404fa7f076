import * as oauth from "oauth4webapi";
import { parseObject, textMember } from "../discovery/metadata-document.js";
import { hookResult, type Steps, saidBy } from "../discovery/steps.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import type { ClientAuthMethod, OAuthClient } from "./oauth-client.js";
import { peerText, requestOptions } from "./token-request.js";
import { locked, type TokenStore } from "./token-store.js";

/**
 * Keeps what a client is given for one issuer from every other: a client belongs to its `issuer`, and a secret without one to
 * the issuer that the client was used with before, which is remembered in the token store. The secret may change, and the client
 * stays where it is; naming another `issuer` moves it.
 *
 * Spec: Authorization, "Authorization Server Binding",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration#authorization-server-binding
 */
export class IssuerBindings {
  readonly #store: TokenStore;
  /** Changes one after the other, so that two servers cannot both be the first. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: TokenStore) {
    this.#store = store;
  }

  /** The only issuer that may see this client, which the program has named; a `secret` that is bound to none is bound to `issuer`. */
  async issuerOf(client: OAuthClient, issuer: string, secret: boolean): Promise<string> {
    const named = client.issuer;
    if (!secret || (named !== undefined && named !== issuer)) return named ?? issuer;
    const key = `issuer of client ${client.clientId}`;
    const isSettled = (known: string | undefined) => known !== undefined && (named === undefined || named === known);
    const known = await this.#store.get(key);
    if (known !== undefined && isSettled(known)) return known;
    const bind = async () => {
      const before = await this.#store.get(key);
      if (!isSettled(before)) await this.#store.set(key, issuer);
      // Another process may have been faster where the store has no lock.
      return named ?? (await this.#store.get(key)) ?? issuer;
    };
    const found = this.#last.then(() => locked(this.#store, key, bind));
    this.#last = found.catch(() => {});
    return found;
  }

  /** Throws unless `issuer` may see this client. */
  async require(
    client: OAuthClient,
    issuer: string,
    { secret, steps }: { secret: boolean; steps: Steps },
  ): Promise<void> {
    const own = await this.issuerOf(client, issuer, secret);
    if (own === issuer) return;
    const isNamed = client.issuer !== undefined;
    throw steps.failure(
      `the server wants tokens of ${issuer}, but the client ${client.clientId} belongs to ${own}${isNamed ? "" : ", with which it was used before"}`,
      isNamed
        ? "Pass a client of this issuer, if you trust the server's choice of it."
        : "Set `issuer` of the client to the authorization server that issued the secret.",
      "other_issuer",
    );
  }
}

/** Shared by all that use a store in this process, so that they take turns. */
const known = new WeakMap<TokenStore, IssuerBindings>();

/** The bindings that `store` remembers; `named` is the same store, whose failures say which of its functions failed. */
export function bindingsOf(store: TokenStore, named: TokenStore): IssuerBindings {
  const bindings = known.get(store) ?? new IssuerBindings(named);
  known.set(store, bindings);
  return bindings;
}

/** The ways in which a client can identify itself. */
export interface IdentityOptions {
  /** Clients that were registered beforehand. */
  readonly clients: readonly OAuthClient[];
  /** The address of the document that describes this client, for servers that fetch it. */
  readonly clientMetadataUrl: string | undefined;
  /** Further metadata for dynamic registration; `false` never registers. */
  readonly registration: Readonly<Record<string, unknown>> | false;
  /** Asks a person, when nothing else leads to a client. */
  readonly chooseClient: ((issuer: string) => Promise<OAuthClient | undefined>) | undefined;
}

interface IdentityNeed {
  readonly server: oauth.AuthorizationServer;
  /** Undefined for the device flow, which has none. */
  readonly redirectUri: string | undefined;
  readonly applicationType: "native" | "web";
  readonly scopes: readonly string[];
}

/** The parts that the search for an identity uses. */
export interface IdentitySearch {
  readonly steps: Steps;
  readonly fetch: BoundedFetch;
  /** Runs `work` while a user acts, whose time counts against no deadline. */
  whileAsking<T>(work: () => Promise<T>): Promise<T>;
}

const WHAT = "client identity";

/**
 * Finds the client to be: a configured one, then a client id metadata document, then dynamic registration, then a person. Credentials
 * are kept by issuer and never shown to another one.
 *
 * Spec: Authorization, "Client Registration Approaches",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#client-registration-approaches
 */
export class Identities {
  readonly #options: IdentityOptions;
  readonly #store: TokenStore;
  readonly #bindings: IssuerBindings;
  readonly #asked = new Map<string, OAuthClient>();

  constructor(options: IdentityOptions, store: TokenStore, bindings: IssuerBindings) {
    this.#options = options;
    this.#store = store;
    this.#bindings = bindings;
  }

  async find(need: IdentityNeed, search: IdentitySearch): Promise<OAuthClient> {
    const { steps } = search;
    const { issuer } = need.server;
    const named = this.#configured(issuer) ?? this.#elsewhere(issuer, steps) ?? this.#document(need.server, steps);
    const registered = named === undefined ? await this.#registered(need, search) : undefined;
    // The issuer chose its id, which may be that of a client elsewhere: it must not move that one.
    if (registered !== undefined) return registered;
    const found = named ?? (await this.#chosen(issuer, search));
    if (found !== undefined) {
      await this.#bindings.require(found, issuer, { secret: found.clientSecret !== undefined, steps });
      return found;
    }
    throw steps.failure(
      `no client is known to ${issuer}`,
      "Register a client there and pass it as `client`, or publish a client metadata document and pass its address as `clientMetadataUrl`.",
    );
  }

  /** The client that a token was issued to; undefined if it is not known any more. Nothing is registered and nobody is asked. */
  async holder(
    { clientId, issuer }: { clientId: string; issuer: string },
    server: oauth.AuthorizationServer,
    ofGrant: OAuthClient | undefined,
  ): Promise<OAuthClient | undefined> {
    const own = server["client_id_metadata_document_supported"] === true ? this.#options.clientMetadataUrl : undefined;
    const candidates = [
      ofGrant,
      this.#configured(issuer),
      own === undefined ? undefined : ofDocument(own),
      this.#asked.get(issuer),
    ];
    const found = candidates.find((client) => client?.clientId === clientId);
    if (found === undefined) {
      const registered = readRegistration(await this.#store.get(keyOf(issuer)))?.client;
      return registered?.clientId === clientId ? registered : undefined;
    }
    const bound = await this.#bindings.issuerOf(found, issuer, found.clientSecret !== undefined);
    return bound === issuer ? found : undefined;
  }

  /** The client that was registered beforehand with this issuer, or with no issuer named. */
  #configured(issuer: string): OAuthClient | undefined {
    const { clients } = this.#options;
    return clients.find((client) => client.issuer === issuer) ?? clients.find((client) => client.issuer === undefined);
  }

  /** A program that brings its own clients means them: another issuer than theirs is a mistake, or an attack. */
  #elsewhere(issuer: string, steps: Steps): undefined {
    const { clients } = this.#options;
    if (clients.length === 0) return undefined;
    throw steps.failure(
      `the server wants tokens of ${issuer}, where none of the configured clients is registered`,
      `Pass a \`client\` for this issuer; those that were passed belong to ${clients.map((client) => client.issuer).join(", ")}.`,
    );
  }

  /** Asks a person once for each issuer, and remembers the answer. */
  async #chosen(issuer: string, { whileAsking }: IdentitySearch): Promise<OAuthClient | undefined> {
    const known = this.#asked.get(issuer);
    if (known !== undefined) return known;
    const { chooseClient } = this.#options;
    if (chooseClient === undefined) return undefined;
    const client = await whileAsking(() => hookResult("chooseClient", () => chooseClient(issuer)));
    if (client !== undefined) this.#asked.set(issuer, client);
    return client;
  }

  /** Forgets a registration that the server no longer knows. */
  async forget(issuer: string): Promise<void> {
    this.#asked.delete(issuer);
    await this.#store.delete(keyOf(issuer));
  }

  #document(server: oauth.AuthorizationServer, steps: Steps): OAuthClient | undefined {
    const { clientMetadataUrl } = this.#options;
    if (clientMetadataUrl === undefined) return undefined;
    if (server["client_id_metadata_document_supported"] === true) return ofDocument(clientMetadataUrl);
    steps.note(WHAT, "the server does not read client id metadata documents");
    return undefined;
  }

  async #registered(need: IdentityNeed, search: IdentitySearch): Promise<OAuthClient | undefined> {
    const { registration } = this.#options;
    const { server, redirectUri } = need;
    const { steps } = search;
    if (registration === false) return undefined;
    if (server.registration_endpoint === undefined) {
      steps.note(WHAT, "the server has no registration endpoint");
      return undefined;
    }
    const key = keyOf(server.issuer);
    const stored = async () => {
      const known = readRegistration(await this.#store.get(key));
      return known?.redirectUri === redirectUri ? known?.client : undefined;
    };
    const register = async () => {
      const client = await this.#register(need, registration, search);
      await this.#store.set(key, JSON.stringify({ client, redirectUri }));
      return client;
    };
    // Logins at two servers of one issuer must not replace each other's registration.
    return (await stored()) ?? locked(this.#store, key, async () => (await stored()) ?? register());
  }

  async #register(
    need: IdentityNeed,
    extra: Readonly<Record<string, unknown>>,
    { steps, fetch }: IdentitySearch,
  ): Promise<OAuthClient> {
    const { server, redirectUri, applicationType, scopes } = need;
    const metadata = {
      client_name: "MCP client",
      ...extra,
      application_type: applicationType,
      grant_types: [redirectUri === undefined ? DEVICE_GRANT : "authorization_code", "refresh_token"],
      ...(redirectUri === undefined ? {} : { redirect_uris: [redirectUri], response_types: ["code"] }),
      token_endpoint_auth_method: preferredMethod(server),
      ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    };
    try {
      const response = await oauth.dynamicClientRegistrationRequest(server, metadata, requestOptions(fetch));
      const client = await readClient(response, server.issuer);
      steps.note("dynamic client registration", "registered", server.registration_endpoint);
      return client;
    } catch (error) {
      steps.note("dynamic client registration", saidBy(error), server.registration_endpoint);
      throw steps.failure(
        `${server.issuer} refused to register this client`,
        "Register a client there by hand and pass it as `client`; if it refused the redirect address, use one that it accepts.",
      );
    }
  }
}

/** RFC 8628. */
export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

const ofDocument = (url: string): OAuthClient => ({ clientId: url, authMethod: "none" });

const keyOf = (issuer: string) => `client ${issuer}`;

/** A program on the user's machine cannot keep a secret, so none is asked for where the server allows that. */
function preferredMethod(server: oauth.AuthorizationServer): ClientAuthMethod {
  const supported = server.token_endpoint_auth_methods_supported;
  if (supported === undefined || supported.includes("none")) return "none";
  return supported.includes("client_secret_basic") ? "client_secret_basic" : "client_secret_post";
}

const METHODS: ReadonlySet<unknown> = new Set<ClientAuthMethod>(["client_secret_basic", "client_secret_post", "none"]);

/**
 * The client in the answer to a registration. RFC 7591 demands 201 and more members than are needed; providers answer 200 and leave
 * some out.
 */
async function readClient(response: Response, issuer: string): Promise<OAuthClient> {
  const body = parseObject(await response.text()) ?? {};
  const clientId = textMember(body, "client_id");
  if ((response.status !== 200 && response.status !== 201) || clientId === undefined) {
    const text = textMember(body, "error_description") ?? textMember(body, "error") ?? "no client_id";
    throw new Error(`HTTP ${response.status}: ${peerText(text)}`);
  }
  const method = body["token_endpoint_auth_method"];
  const clientSecret = method === "none" ? undefined : textMember(body, "client_secret");
  return {
    clientId,
    issuer,
    ...(clientSecret === undefined ? {} : { clientSecret }),
    // Safe: membership in the set of methods was tested.
    ...(METHODS.has(method) ? { authMethod: method as ClientAuthMethod } : {}),
  };
}

function readRegistration(text: string | undefined): { client: OAuthClient; redirectUri?: string } | undefined {
  if (text === undefined) return undefined;
  try {
    const { client, redirectUri } = JSON.parse(text) as { client?: OAuthClient; redirectUri?: string };
    if (typeof client?.clientId !== "string") return undefined;
    return redirectUri === undefined ? { client } : { client, redirectUri };
  } catch {
    // As good as none: the client registers again.
    return undefined;
  }
}
