import * as oauth from "oauth4webapi";
import { parseObject, textMember } from "../discovery/metadata-document.js";
import { errorMessage, hookResult, type Steps } from "../discovery/steps.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import type { ClientAuthMethod, OAuthClient } from "./oauth-client.js";
import { peerText, requestOptions } from "./token-request.js";
import { locked, type TokenStore } from "./token-store.js";

/**
 * Restricts clients to one issuer. A client with an `issuer` option is restricted to that issuer. A client with a
 * secret but without that option is bound to the issuer that it was first used with, and the token store records that
 * issuer. The binding remains if the secret changes. If the `issuer` option changes, the next use binds the client to
 * the new issuer.
 *
 * Spec: Authorization, "Authorization Server Binding",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration#authorization-server-binding
 */
export class IssuerBindings {
  readonly #store: TokenStore;
  /**
   * Settles after the last change of a binding. Changes run one after the other, so that two servers cannot both be the
   * first to bind a client.
   */
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: TokenStore) {
    this.#store = store;
  }

  /**
   * Returns the only issuer that this client may be sent to. If `secret` is true and the client has no binding yet,
   * binds the client to `issuer`.
   */
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
      // Without a lock in the store, another process may have written first, so read the stored issuer again.
      return named ?? (await this.#store.get(key)) ?? issuer;
    };
    const found = this.#last.then(() => locked(this.#store, key, bind));
    this.#last = found.catch(() => {});
    return found;
  }

  /** Throws unless the client may be sent to `issuer`. */
  async require(
    client: OAuthClient,
    issuer: string,
    { secret, steps }: { secret: boolean; steps: Steps },
  ): Promise<void> {
    const own = await this.issuerOf(client, issuer, secret);
    if (own === issuer) return;
    const isNamed = client.issuer !== undefined;
    throw steps.failure(
      `the server requires tokens of ${issuer}, but the client ${client.clientId} belongs to ${own}${isNamed ? "" : ", the issuer that it was first used with"}`,
      isNamed
        ? "If you trust this issuer, pass a client that is registered with it."
        : "Set `issuer` of the client to the authorization server that issued the secret.",
      "other_issuer",
    );
  }
}

/** One instance for each store in this process, so that changes to a store are serialized. */
const bindingsByStore = new WeakMap<TokenStore, IssuerBindings>();

/** Returns the bindings in `store`. `named` is the same store, wrapped so that its errors name the failed function. */
export function bindingsOf(store: TokenStore, named: TokenStore): IssuerBindings {
  const bindings = bindingsByStore.get(store) ?? new IssuerBindings(named);
  bindingsByStore.set(store, bindings);
  return bindings;
}

/** The ways in which a client can identify itself. */
export interface IdentityOptions {
  /** Clients that were registered beforehand. */
  readonly clients: readonly OAuthClient[];
  /** Address of the metadata document that describes this client, for servers that fetch it. */
  readonly clientMetadataUrl: string | undefined;
  /** Further metadata for dynamic registration. `false` disables registration. */
  readonly registration: Readonly<Record<string, unknown>> | false;
  /** Asks the user for a registered client if every other way to obtain one has failed. */
  readonly chooseClient: ((issuer: string) => Promise<OAuthClient | undefined>) | undefined;
}

interface IdentityNeed {
  readonly server: oauth.AuthorizationServer;
  /** Undefined for the device flow, which has no redirect. */
  readonly redirectUri: string | undefined;
  readonly applicationType: "native" | "web";
  readonly scopes: readonly string[];
}

/** Dependencies of the search for a client. */
export interface IdentitySearch {
  readonly steps: Steps;
  readonly fetch: BoundedFetch;
  /** Runs `work` while a user acts. The deadlines of waiting requests are paused meanwhile. */
  whileAsking<T>(work: () => Promise<T>): Promise<T>;
}

const STEP = "client identity";

/**
 * Finds the client to use: a configured one, a client ID metadata document, dynamic registration, or the user's choice,
 * in this order. Credentials are stored by issuer and never sent to another issuer.
 *
 * Spec: Authorization, "Client Registration Approaches",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#client-registration-approaches
 */
export class Identities {
  readonly #options: IdentityOptions;
  readonly #store: TokenStore;
  readonly #bindings: IssuerBindings;
  readonly #chosenClients = new Map<string, OAuthClient>();

  constructor(options: IdentityOptions, store: TokenStore, bindings: IssuerBindings) {
    this.#options = options;
    this.#store = store;
    this.#bindings = bindings;
  }

  async find(need: IdentityNeed, search: IdentitySearch): Promise<OAuthClient> {
    const { steps } = search;
    const { issuer } = need.server;
    const named =
      this.#configuredClient(issuer) ??
      this.#rejectOtherIssuer(issuer, steps) ??
      this.#documentClient(need.server, steps);
    const registered = named === undefined ? await this.#registeredClient(need, search) : undefined;
    // Skip the binding check: the issuer chose this id, which may equal the id of a client at another issuer. Binding
    // this id would change the binding of that client.
    if (registered !== undefined) return registered;
    const found = named ?? (await this.#chooseClient(issuer, search));
    if (found !== undefined) {
      await this.#bindings.require(found, issuer, { secret: found.clientSecret !== undefined, steps });
      return found;
    }
    throw steps.failure(
      `no client is available for ${issuer}`,
      "Register a client there and pass it as `client`, or publish a client metadata document and pass its address as `clientMetadataUrl`.",
    );
  }

  /**
   * Finds the client that a token was issued to, without registering one or asking the user. Undefined if the client is
   * no longer known.
   */
  async holder(
    { clientId, issuer }: { clientId: string; issuer: string },
    server: oauth.AuthorizationServer,
    ofGrant: OAuthClient | undefined,
  ): Promise<OAuthClient | undefined> {
    const own = server["client_id_metadata_document_supported"] === true ? this.#options.clientMetadataUrl : undefined;
    const candidates = [
      ofGrant,
      this.#configuredClient(issuer),
      own === undefined ? undefined : clientOfDocument(own),
      this.#chosenClients.get(issuer),
    ];
    const found = candidates.find((client) => client?.clientId === clientId);
    if (found === undefined) {
      const registered = readRegistration(await this.#store.get(registrationKey(issuer)))?.client;
      return registered?.clientId === clientId ? registered : undefined;
    }
    const bound = await this.#bindings.issuerOf(found, issuer, found.clientSecret !== undefined);
    return bound === issuer ? found : undefined;
  }

  /** Finds the client that was registered beforehand with this issuer, or else one that names no issuer. */
  #configuredClient(issuer: string): OAuthClient | undefined {
    const { clients } = this.#options;
    return clients.find((client) => client.issuer === issuer) ?? clients.find((client) => client.issuer === undefined);
  }

  /**
   * Throws if the program configured clients and none of them belongs to this issuer, which is a mistake or an attack.
   */
  #rejectOtherIssuer(issuer: string, steps: Steps): undefined {
    const { clients } = this.#options;
    if (clients.length === 0) return undefined;
    throw steps.failure(
      `the server requires tokens of ${issuer}, but no configured client belongs to it`,
      `Pass a \`client\` for this issuer. The configured ones belong to ${clients.map((client) => client.issuer).join(", ")}.`,
    );
  }

  /** Asks the user once for each issuer and stores the answer in memory. */
  async #chooseClient(issuer: string, { whileAsking }: IdentitySearch): Promise<OAuthClient | undefined> {
    const known = this.#chosenClients.get(issuer);
    if (known !== undefined) return known;
    const { chooseClient } = this.#options;
    if (chooseClient === undefined) return undefined;
    const client = await whileAsking(() => hookResult("chooseClient", () => chooseClient(issuer)));
    if (client !== undefined) this.#chosenClients.set(issuer, client);
    return client;
  }

  /** Deletes the registered or chosen client of an issuer that no longer accepts it. */
  async forget(issuer: string): Promise<void> {
    this.#chosenClients.delete(issuer);
    await this.#store.delete(registrationKey(issuer));
  }

  #documentClient(server: oauth.AuthorizationServer, steps: Steps): OAuthClient | undefined {
    const { clientMetadataUrl } = this.#options;
    if (clientMetadataUrl === undefined) return undefined;
    if (server["client_id_metadata_document_supported"] === true) return clientOfDocument(clientMetadataUrl);
    steps.note(STEP, "the server does not support client ID metadata documents");
    return undefined;
  }

  async #registeredClient(need: IdentityNeed, search: IdentitySearch): Promise<OAuthClient | undefined> {
    const { registration } = this.#options;
    const { server, redirectUri } = need;
    const { steps } = search;
    if (registration === false) return undefined;
    if (server.registration_endpoint === undefined) {
      steps.note(STEP, "the server has no registration endpoint");
      return undefined;
    }
    const key = registrationKey(server.issuer);
    const stored = async () => {
      const known = readRegistration(await this.#store.get(key));
      return known?.redirectUri === redirectUri ? known?.client : undefined;
    };
    const register = async () => {
      const client = await this.#register(need, registration, search);
      await this.#store.set(key, JSON.stringify({ client, redirectUri }));
      return client;
    };
    // Concurrent logins at two servers of one issuer must not overwrite each other's registration.
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
      steps.note("dynamic client registration", errorMessage(error), server.registration_endpoint);
      throw steps.failure(
        `${server.issuer} refused to register this client`,
        "Register a client there by hand and pass it as `client`. If it refused the redirect address, use one that it accepts.",
      );
    }
  }
}

/** Grant type of the device flow (RFC 8628). */
export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

const clientOfDocument = (url: string): OAuthClient => ({ clientId: url, authMethod: "none" });

const registrationKey = (issuer: string) => `client ${issuer}`;

/** Prefers a registration without a secret, because a program on the user's machine cannot protect one. */
function preferredMethod(server: oauth.AuthorizationServer): ClientAuthMethod {
  const supported = server.token_endpoint_auth_methods_supported;
  if (supported === undefined || supported.includes("none")) return "none";
  return supported.includes("client_secret_basic") ? "client_secret_basic" : "client_secret_post";
}

const METHODS: ReadonlySet<unknown> = new Set<ClientAuthMethod>(["client_secret_basic", "client_secret_post", "none"]);

/**
 * Reads the client from a registration response. Accepts status 200 and missing members, which RFC 7591 does not allow
 * but providers send.
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
    // Safe: the set contains only values of this type.
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
    // An unreadable registration counts as missing: the client registers again.
    return undefined;
  }
}
