/** A client of the proxy, as it describes itself. */
export interface ProxyClient {
  readonly name: string;
  readonly redirectUris: readonly string[];
}

const MAX_NAME = 100;
/** Characters that a reader does not see, of which some turn the direction of the text after them. */
const UNSEEN = /\p{C}/gu;

/** Whether the id of a client is the address of a document. Ids of registered clients never begin so. */
export function isDocumentId(clientId: string): boolean {
  return clientId.startsWith("https://");
}

/** The name that a client chose, as it may be shown. */
export function shownClientName({ client_name: name }: Readonly<Record<string, unknown>>): string {
  return typeof name === "string" ? name.replace(UNSEEN, "").slice(0, MAX_NAME) : "";
}
