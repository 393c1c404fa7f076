import { type JsonObject, objectsOf } from "./publish-project.js";

/** The schema of server cards (SEP-2127, a draft: https://github.com/modelcontextprotocol/experimental-ext-server-card). */
const CARD_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";

/** Members that a card shares with `server.json`. */
const IDENTITY = ["name", "version", "description", "title", "websiteUrl", "repository", "icons", "remotes", "_meta"];

/**
 * Builds the card that clients read before they connect. A card describes servers with an address, so the result is
 * undefined for a document without remotes. A server of the draft returns it for `GET <url>/server-card`.
 */
export function buildServerCard(document: JsonObject): JsonObject | undefined {
  if (objectsOf(document["remotes"]).length === 0) return undefined;
  const shared = IDENTITY.filter((name) => document[name] !== undefined).map((name) => [name, document[name]] as const);
  return { $schema: CARD_SCHEMA, ...Object.fromEntries(shared) };
}
