import type { ServedDocument } from "../../http/authentication.js";
import { BoundedMap } from "../../platform/bounded-map.js";
import type { Platform } from "../../platform/platform.js";
import { parseObject } from "../discovery/metadata-document.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import { formProblem } from "../url/url-policy.js";
import type { SealedJson } from "./proxy-grants.js";
import { errorReply, jsonReply } from "./proxy-reply.js";
import { isDocumentId, isYes, type RedirectRules } from "./redirect-rules.js";

/** A client of the proxy, as it describes itself. */
interface ProxyClient {
  readonly name: string;
  readonly redirectUris: readonly string[];
}

const MAX_NAME = 100;
/** Characters that a reader does not see, of which some turn the direction of the text after them. */
const UNSEEN = /\p{C}/gu;

/** The name that a client chose, as it may be shown. */
function shownClientName({ client_name: name }: Readonly<Record<string, unknown>>): string {
  return typeof name === "string" ? name.replace(UNSEEN, "").slice(0, MAX_NAME) : "";
}

interface ClientDocumentsParts {
  /** Contacts public addresses only. */
  readonly fetch: BoundedFetch;
  readonly platform: Platform;
  /** Whether the operator lets this client be described by a document. */
  allows(clientId: string): boolean;
}

interface Entry {
  readonly client: ProxyClient;
  readonly until: number;
}

const MAX_ID = 512;
const MAX_DOCUMENT = 16 * 1024;
const MAX_DOCUMENT_URIS = 50;
/** Documents that are remembered, about 16 MiB at most. */
const MAX_ENTRIES = 1_000;
/** Ids of clients that users have logged in by. Fewer than documents, so that there is always one to forget. */
const MAX_TRUSTED = 900;
/** Requests under way, in all and to one host: strangers choose the addresses, and slow ones must not pile up. */
const [MAX_READING, MAX_READING_OF_HOST] = [64, 4];
/** Requests for clients that users have logged in by, beside those of strangers. */
const MAX_READING_TRUSTED = 16;
const MINUTE = 60_000;
const FRESH_MS = 10 * MINUTE;
const MAX_FRESH_MS = 24 * 60 * MINUTE;
/** How long a document is used that cannot be read again: neither an outage nor a flood must stop its users at once. */
const STALE_MS = 24 * 60 * MINUTE;
const UNREADABLE = "The document that describes the application cannot be read.";
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads the documents by which clients describe themselves at an address of their own, in place of a registration. They are read
 * without redirects, within limits of size and time, and remembered as long as their server allows, between a minute and a day.
 * A document that cannot be read or does not fit is not remembered; one that fitted before is used for another day, unless its
 * server withdraws it.
 *
 * Strangers choose the addresses. They can make neither the documents of clients that users have logged in by be forgotten, nor
 * keep them from being read.
 *
 * Spec: Authorization, "Client ID Metadata Documents",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#client-id-metadata-documents
 */
export class ClientDocuments {
  readonly #parts: ClientDocumentsParts;
  /** The document that was used longest ago comes first. */
  readonly #entries = new Map<string, Entry>();
  /** Ids that users have logged in by, also on a node that has not read the document. */
  readonly #trusted = new BoundedMap<string, true>(MAX_TRUSTED);
  readonly #reading = new Map<string, Promise<ProxyClient | string>>();

  constructor(parts: ClientDocumentsParts) {
    this.#parts = parts;
  }

  /** The client at this address, or a sentence for the user why there is none. Rejects while too many documents are being read. */
  find(clientId: string): Promise<ProxyClient | string> {
    const problem = idProblem(clientId);
    if (problem !== undefined) return Promise.resolve(`The address that the application has as its id ${problem}.`);
    if (!isYes(this.#parts.platform, "clientDocuments", () => this.#parts.allows(clientId)))
      return Promise.resolve("This server does not accept the address that the application has as its id.");
    const known = this.#entries.get(clientId);
    const now = this.#parts.platform.monotonic();
    if (known !== undefined) this.#keep(clientId, known);
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

  /** Remembers that a user has logged in by this client, which strangers cannot do. */
  trust(clientId: string): void {
    this.#trusted.set(clientId, true);
  }

  #isBusy(clientId: string): boolean {
    const { host } = new URL(clientId);
    const isTrusted = this.#trusted.has(clientId);
    const alike = [...this.#reading.keys()].filter((id) => this.#trusted.has(id) === isTrusted);
    const sameHost = alike.filter((id) => new URL(id).host === host);
    const most = isTrusted ? MAX_READING_TRUSTED : MAX_READING;
    return alike.length >= most || sameHost.length >= MAX_READING_OF_HOST;
  }

  async #read(clientId: string, usable: ProxyClient | undefined): Promise<ProxyClient | string> {
    const { fetch, platform } = this.#parts;
    let response: Response;
    let text: string;
    try {
      response = await fetch(clientId, { headers: { accept: "application/json" }, followRedirects: false });
      text = await response.text();
    } catch {
      // The reason could tell a stranger what the network of this server looks like.
      return usable ?? UNREADABLE;
    }
    // Its server is out of order, or wants fewer requests.
    if (response.status === 429 || response.status >= 500) return usable ?? UNREADABLE;
    // A document that is gone, or no longer fits, was withdrawn.
    this.#entries.delete(clientId);
    if (
      response.status !== 200 ||
      !JSON_TYPE.test(response.headers.get("content-type") ?? "") ||
      text.length > MAX_DOCUMENT
    )
      return "The address that the application has as its id gives no JSON document of up to 16 KiB.";
    const client = clientOf(clientId, parseObject(text));
    if (typeof client !== "string") this.#keep(clientId, { client, until: platform.monotonic() + freshMs(response) });
    return client;
  }

  #keep(clientId: string, entry: Entry): void {
    this.#entries.delete(clientId);
    if (this.#entries.size >= MAX_ENTRIES) this.#forgetOne();
    this.#entries.set(clientId, entry);
  }

  #forgetOne(): void {
    for (const clientId of this.#entries.keys()) {
      if (this.#trusted.has(clientId)) continue;
      this.#entries.delete(clientId);
      return;
    }
  }
}

/** The reason why an address cannot be an id. Ids are compared as text, so an address must have one spelling only. */
function idProblem(clientId: string): string | undefined {
  if (clientId.length > MAX_ID) return `is longer than ${MAX_ID} characters`;
  const problem = formProblem(clientId);
  if (problem !== undefined) return problem;
  const { href, pathname } = new URL(clientId);
  return href === clientId && pathname !== "/" ? undefined : "needs a path, without dot segments";
}

function clientOf(clientId: string, document: Record<string, unknown> | undefined): ProxyClient | string {
  if (document === undefined) return "The document that describes the application is not a JSON object.";
  if (document["client_id"] !== clientId) return "The document that describes the application has another client_id.";
  const { redirect_uris: uris, token_endpoint_auth_method: method = "none" } = document;
  // A secret in a public document is none, and keys are not verified here: the client would be taken for less than it is.
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

interface ProxyClientsParts {
  readonly sealed: SealedJson;
  readonly redirects: RedirectRules;
  /** Absent if the operator wants no client to be described by a document. */
  readonly documents: ClientDocuments | undefined;
}

const PURPOSE = "client";
const YEAR_MS = 365 * 24 * 3_600_000;
const MAX_BODY = 16 * 1024;
const MAX_URIS = 10;
/** The id has all of this in it, and must fit into an address. */
const MAX_CLIENT = 4_096;

/**
 * Registers clients (RFC 7591) without remembering them: the id of a client is its own sealed description. However many register,
 * nothing grows, and every node knows all of them. An id that is an https address names a document that describes the client.
 */
export class ProxyClients {
  readonly #parts: ProxyClientsParts;

  constructor(parts: ProxyClientsParts) {
    this.#parts = parts;
  }

  async register(body: string): Promise<ServedDocument> {
    const { sealed, redirects } = this.#parts;
    const wanted = body.length > MAX_BODY ? undefined : parseObject(body);
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
        "give one to ten allowed addresses: https, http on the user's machine, or a scheme that this server admits",
      );
    }
    const client: ProxyClient = { name: shownClientName(wanted), redirectUris: uris };
    if (JSON.stringify(client).length > MAX_CLIENT)
      return errorReply(400, "invalid_redirect_uri", "the addresses have more than 4 KiB together");
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

  /** The client with this id, or a sentence for the user why there is none. */
  async find(clientId: string): Promise<ProxyClient | string> {
    const { sealed, documents } = this.#parts;
    if (isDocumentId(clientId) && documents !== undefined) return documents.find(clientId);
    const client = await sealed.open<ProxyClient>(PURPOSE, clientId);
    return client ?? "The application is not registered here. Let it register again.";
  }

  /** Remembers that a user has logged in by this client, named as by `clientKey`. */
  trust(client: string): void {
    if (isDocumentId(client)) this.#parts.documents?.trust(client);
  }
}
