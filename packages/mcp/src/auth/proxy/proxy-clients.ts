import type { ServedDocument } from "../../http/authentication.js";
import { BoundedMap } from "../../platform/bounded-map.js";
import type { Platform } from "../../platform/platform.js";
import { parseObject } from "../discovery/metadata-document.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import { formProblem } from "../url/url-policy.js";
import type { SealedJson } from "./proxy-grants.js";
import { errorReply, jsonReply } from "./proxy-reply.js";
import { isDocumentId, type RedirectRules, returnsTrue } from "./redirect-rules.js";

/** A client of the proxy, as it describes itself. */
interface ProxyClient {
  readonly name: string;
  readonly redirectUris: readonly string[];
}

const MAX_NAME_LENGTH = 100;
/** Invisible characters. Some of them change the direction of the text that follows. */
const UNSEEN = /\p{C}/gu;

/** Returns the name that a client chose, safe to display. */
function shownClientName({ client_name: name }: Readonly<Record<string, unknown>>): string {
  return typeof name === "string" ? name.replace(UNSEEN, "").slice(0, MAX_NAME_LENGTH) : "";
}

/** Options for `ClientDocuments`. */
interface ClientDocumentsOptions {
  /** Sends requests to public addresses only. */
  readonly fetch: BoundedFetch;
  readonly platform: Platform;
  /** True if the operator accepts this client's metadata document. */
  allows(clientId: string): boolean;
}

interface CachedClient {
  readonly client: ProxyClient;
  readonly until: number;
}

const MAX_ID_LENGTH = 512;
const MAX_DOCUMENT_LENGTH = 16 * 1024;
const MAX_DOCUMENT_URIS = 50;
/**
 * Maximum number of cached documents, about 16 MiB in total. Beyond that, the least recently used document is evicted,
 * except documents of clients that users have logged in with.
 */
const MAX_ENTRIES = 1_000;
/**
 * Maximum number of stored ids of clients that users have logged in with. It is less than `MAX_ENTRIES`, so that there
 * is always a document to evict.
 */
const MAX_TRUSTED = 900;
/**
 * Maximum number of concurrent reads for strangers, in total and per host. Further reads are rejected, because
 * strangers choose the addresses and slow hosts would occupy this server.
 */
const [MAX_READS, MAX_READS_PER_HOST] = [64, 4];
/**
 * Maximum number of concurrent reads for clients that users have logged in with, in addition to the reads for
 * strangers. `MAX_READS_PER_HOST` applies to these reads, too, and is counted separately.
 */
const MAX_TRUSTED_READS = 16;
const MINUTE = 60_000;
const FRESH_MS = 10 * MINUTE;
const MAX_FRESH_MS = 24 * 60 * MINUTE;
/**
 * Time for which an expired document is used if it cannot be read again, so that neither an outage nor a flood of
 * requests locks out its users at once.
 */
const STALE_MS = 24 * 60 * MINUTE;
const UNREADABLE = "The document that describes the application cannot be read.";
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads the metadata documents by which clients describe themselves, in place of a registration. Reads them without
 * redirects and within limits of size and time. Caches them as long as their server allows, between a minute and a day.
 * If a document temporarily cannot be read, its last valid version is used for another day. A missing or invalid
 * document counts as withdrawn.
 *
 * Strangers choose the addresses. They cannot cause the documents of clients that users have logged in with to be
 * evicted, and they cannot prevent these documents from being read.
 *
 * Spec: Authorization, "Client ID Metadata Documents",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#client-id-metadata-documents
 */
export class ClientDocuments {
  readonly #options: ClientDocumentsOptions;
  /** The least recently used document comes first. */
  readonly #entries = new Map<string, CachedClient>();
  /** Ids that users have logged in with, including those whose document this node has not read. */
  readonly #trusted = new BoundedMap<string, true>(MAX_TRUSTED);
  readonly #reading = new Map<string, Promise<ProxyClient | string>>();

  constructor(options: ClientDocumentsOptions) {
    this.#options = options;
  }

  /**
   * Returns the client at this address, or a sentence for the user that explains why there is none. While too many
   * documents are being read, returns the cached client or, if there is none, rejects.
   */
  find(clientId: string): Promise<ProxyClient | string> {
    const problem = idProblem(clientId);
    if (problem !== undefined) return Promise.resolve(`The id of the application is an address that ${problem}.`);
    if (!returnsTrue(this.#options.platform, "clientDocuments", () => this.#options.allows(clientId)))
      return Promise.resolve("This server does not accept the address in the id of the application.");
    const known = this.#entries.get(clientId);
    const now = this.#options.platform.monotonic();
    if (known !== undefined) this.#store(clientId, known);
    if (known !== undefined && known.until > now) return Promise.resolve(known.client);
    const reading = this.#reading.get(clientId);
    if (reading !== undefined) return reading;
    const usable = known !== undefined && known.until + STALE_MS > now ? known.client : undefined;
    if (this.#isBusy(clientId)) {
      return usable === undefined
        ? Promise.reject(new Error("too many client documents are being read"))
        : Promise.resolve(usable);
    }
    const mine = this.#read(clientId, usable).finally(() => this.#reading.delete(clientId));
    this.#reading.set(clientId, mine);
    return mine;
  }

  /** Marks a client that a user has logged in with. Strangers cannot cause this. */
  trust(clientId: string): void {
    this.#trusted.set(clientId, true);
  }

  #isBusy(clientId: string): boolean {
    const { host } = new URL(clientId);
    const isTrusted = this.#trusted.has(clientId);
    const alike = [...this.#reading.keys()].filter((id) => this.#trusted.has(id) === isTrusted);
    const sameHost = alike.filter((id) => new URL(id).host === host);
    const limit = isTrusted ? MAX_TRUSTED_READS : MAX_READS;
    return alike.length >= limit || sameHost.length >= MAX_READS_PER_HOST;
  }

  async #read(clientId: string, usable: ProxyClient | undefined): Promise<ProxyClient | string> {
    const { fetch, platform } = this.#options;
    let response: Response;
    let text: string;
    try {
      response = await fetch(clientId, { headers: { accept: "application/json" }, followRedirects: false });
      text = await response.text();
    } catch {
      // The reason could reveal this server's network to a stranger, so the message does not contain it.
      return usable ?? UNREADABLE;
    }
    // A temporary failure: the document's server has an error or limits requests.
    if (response.status === 429 || response.status >= 500) return usable ?? UNREADABLE;
    // A missing or invalid document counts as withdrawn.
    this.#entries.delete(clientId);
    if (
      response.status !== 200 ||
      !JSON_TYPE.test(response.headers.get("content-type") ?? "") ||
      text.length > MAX_DOCUMENT_LENGTH
    )
      return "The address in the id of the application does not return a JSON document of up to 16 KiB.";
    const client = clientOf(clientId, parseObject(text));
    if (typeof client !== "string") this.#store(clientId, { client, until: platform.monotonic() + freshMs(response) });
    return client;
  }

  #store(clientId: string, entry: CachedClient): void {
    this.#entries.delete(clientId);
    if (this.#entries.size >= MAX_ENTRIES) this.#evictOne();
    this.#entries.set(clientId, entry);
  }

  #evictOne(): void {
    for (const clientId of this.#entries.keys()) {
      if (this.#trusted.has(clientId)) continue;
      this.#entries.delete(clientId);
      return;
    }
  }
}

/**
 * Returns the reason why an address cannot be a client id. Ids are compared as text, so only one spelling of an address
 * is accepted.
 */
function idProblem(clientId: string): string | undefined {
  if (clientId.length > MAX_ID_LENGTH) return `is longer than ${MAX_ID_LENGTH} characters`;
  const problem = formProblem(clientId);
  if (problem !== undefined) return problem;
  const { href, pathname } = new URL(clientId);
  return href === clientId && pathname !== "/" ? undefined : "needs a path, without dot segments";
}

function clientOf(clientId: string, document: Record<string, unknown> | undefined): ProxyClient | string {
  if (document === undefined) return "The document that describes the application is not a JSON object.";
  if (document["client_id"] !== clientId) return "The document that describes the application has another client_id.";
  const { redirect_uris: uris, token_endpoint_auth_method: method = "none" } = document;
  // A secret in a public document is not secret, and keys are not verified here. Accepting such a client would skip an
  // authentication that it claims to use.
  if (method !== "none" || "client_secret" in document)
    return "The application must use the token_endpoint_auth_method none at this server.";
  const isList = Array.isArray(uris) && uris.length > 0 && uris.length <= MAX_DOCUMENT_URIS;
  if (!isList || !uris.every((uri): uri is string => typeof uri === "string"))
    return `The document that describes the application must list one to ${MAX_DOCUMENT_URIS} redirect_uris.`;
  return { name: shownClientName(document), redirectUris: uris };
}

function freshMs(response: Response): number {
  const control = response.headers.get("cache-control") ?? "";
  if (/\bno-(?:store|cache)\b/i.test(control)) return MINUTE;
  const maxAge = /\bmax-age=(\d+)/i.exec(control)?.[1];
  return maxAge === undefined ? FRESH_MS : Math.min(MAX_FRESH_MS, Math.max(MINUTE, Number(maxAge) * 1_000));
}

/** Options for `ProxyClients`. */
interface ProxyClientsOptions {
  readonly sealed: SealedJson;
  readonly redirects: RedirectRules;
  /** Undefined if the operator disabled client metadata documents. */
  readonly documents: ClientDocuments | undefined;
}

const PURPOSE = "client";
const YEAR_MS = 365 * 24 * 3_600_000;
const MAX_BODY_LENGTH = 16 * 1024;
const MAX_URIS = 10;
/** Maximum length of a client's description, because the id contains the description and must fit into an address. */
const MAX_CLIENT_LENGTH = 4_096;

/**
 * Registers clients (RFC 7591) without storing them: the id of a client is its sealed description. Registrations need
 * no storage, and every node knows all clients. An id that is an https address refers to a metadata document.
 */
export class ProxyClients {
  readonly #options: ProxyClientsOptions;

  constructor(options: ProxyClientsOptions) {
    this.#options = options;
  }

  async register(body: string): Promise<ServedDocument> {
    const { sealed, redirects } = this.#options;
    const wanted = body.length > MAX_BODY_LENGTH ? undefined : parseObject(body);
    if (wanted === undefined)
      return errorReply(400, "invalid_client_metadata", "the body is not a JSON object of up to 16 KiB");
    const uris = wanted["redirect_uris"];
    if (
      !Array.isArray(uris) ||
      uris.length === 0 ||
      uris.length > MAX_URIS ||
      !uris.every((uri) => redirects.allows(uri))
    ) {
      return errorReply(
        400,
        "invalid_redirect_uri",
        "send one to ten allowed addresses: https, http on the user's machine, or a scheme that this server allows",
      );
    }
    const client: ProxyClient = { name: shownClientName(wanted), redirectUris: uris };
    if (JSON.stringify(client).length > MAX_CLIENT_LENGTH)
      return errorReply(400, "invalid_redirect_uri", "the addresses have more than 4 KiB in total");
    const clientId = await sealed.seal(PURPOSE, client, YEAR_MS);
    return jsonReply(201, {
      client_id: clientId,
      client_name: client.name,
      redirect_uris: client.redirectUris,
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    });
  }

  /** Returns the client with this id, or a sentence for the user that explains why there is none. */
  async find(clientId: string): Promise<ProxyClient | string> {
    const { sealed, documents } = this.#options;
    if (isDocumentId(clientId) && documents !== undefined) return documents.find(clientId);
    const client = await sealed.open<ProxyClient>(PURPOSE, clientId);
    return client ?? "The application is not registered here. Let it register again.";
  }

  /** Marks a client that a user has logged in with. `client` is a key from `clientKey`. */
  trust(client: string): void {
    if (isDocumentId(client)) this.#options.documents?.trust(client);
  }
}
