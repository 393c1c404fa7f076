import { isThenable } from "../../encoding/maybe-promise.js";
import type { ServedDocument } from "../../http/authentication.js";
import { addressClass } from "../url/address-class.js";
import { formProblem } from "../url/url-policy.js";
import { errorReply, jsonReply } from "./proxy-reply.js";
import type { SealedJson } from "./sealed-json.js";

/** A client of the proxy, as it registered itself. */
export interface ProxyClient {
  readonly name: string;
  readonly redirectUris: readonly string[];
}

const PURPOSE = "client";
const YEAR_MS = 365 * 24 * 3_600_000;
const MAX_BODY = 16 * 1024;
const MAX_URIS = 10;
const MAX_NAME = 100;
/** The id has all of this in it, and must fit into an address. */
const MAX_CLIENT = 4_096;
/** Characters that a reader does not see, of which some turn the direction of the text after them. */
const UNSEEN = /\p{C}/gu;

/**
 * Registers clients (RFC 7591) without remembering them: the id of a client is its own sealed description. However many register,
 * nothing grows, and every node knows all of them.
 */
export class ProxyClients {
  readonly #sealed: SealedJson;
  readonly #allows: (redirectUri: string) => boolean;

  constructor(sealed: SealedJson, allows: ((redirectUri: string) => boolean) | undefined) {
    this.#sealed = sealed;
    this.#allows = (uri) => {
      const verdict: unknown = allows === undefined || allows(uri);
      // A promise, which the type forbids, must not pass for a yes.
      if (isThenable(verdict)) verdict.then(undefined, () => {});
      return verdict === true;
    };
  }

  async register(body: string): Promise<ServedDocument> {
    const wanted = body.length > MAX_BODY ? undefined : parsed(body);
    if (wanted === undefined)
      return errorReply(400, "invalid_client_metadata", "the body is not a JSON object of up to 16 KiB");
    const uris = wanted["redirect_uris"];
    if (
      !Array.isArray(uris) ||
      uris.length === 0 ||
      uris.length > MAX_URIS ||
      !uris.every((uri) => this.#isAllowed(uri))
    ) {
      return errorReply(
        400,
        "invalid_redirect_uri",
        "give one to ten allowed addresses: https, or http on the user's machine",
      );
    }
    const { client_name: name } = wanted;
    const client: ProxyClient = {
      name: typeof name === "string" ? name.replace(UNSEEN, "").slice(0, MAX_NAME) : "",
      redirectUris: uris,
    };
    if (JSON.stringify(client).length > MAX_CLIENT)
      return errorReply(400, "invalid_redirect_uri", "the addresses have more than 4 KiB together");
    const clientId = await this.#sealed.seal(PURPOSE, client, YEAR_MS);
    return jsonReply(201, {
      client_id: clientId,
      client_name: client.name,
      redirect_uris: client.redirectUris,
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    });
  }

  /** The client with this id; undefined if this proxy did not register it. */
  find(clientId: string): Promise<ProxyClient | undefined> {
    return this.#sealed.open<ProxyClient>(PURPOSE, clientId);
  }

  #isAllowed(uri: unknown): uri is string {
    if (typeof uri !== "string" || formProblem(uri) !== undefined) return false;
    const { protocol, hostname } = new URL(uri);
    return (protocol === "https:" || addressClass(hostname) === "loopback") && this.#allows(uri);
  }
}

/** Whether a client may be sent back here: exactly as registered; only the port of a loopback address may differ (RFC 8252, 7.3). */
export function isRedirectOf(client: ProxyClient, uri: string): boolean {
  if (client.redirectUris.includes(uri)) return true;
  if (formProblem(uri) !== undefined) return false;
  const { protocol, hostname } = new URL(uri);
  if (protocol !== "http:" || addressClass(hostname) !== "loopback") return false;
  return client.redirectUris.some((known) => withoutPort(known) === withoutPort(uri));
}

function withoutPort(uri: string): string {
  const url = new URL(uri);
  url.port = "";
  return url.href;
}

function parsed(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    // Each member is checked where it is read.
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
