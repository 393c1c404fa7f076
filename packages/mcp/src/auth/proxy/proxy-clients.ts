import type { ServedDocument } from "../../http/authentication.js";
import { parseObject } from "../discovery/metadata-document.js";
import type { ClientDocuments } from "./client-documents.js";
import { isDocumentId, type ProxyClient, shownClientName } from "./proxy-client.js";
import { errorReply, jsonReply } from "./proxy-reply.js";
import type { RedirectRules } from "./redirect-rules.js";
import type { SealedJson } from "./sealed-json.js";

/** The parts of `ProxyClients`. */
export interface ProxyClientsParts {
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
