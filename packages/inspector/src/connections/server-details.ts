import type { Client } from "@parley/mcp";
import { type Revision, shownRevision } from "@parley/mcp/protocol";
import { SKILLS_EXTENSION } from "@parley/mcp/skills";
import type { ConnectionInfo, OfferKind } from "../contract/connections.js";

/** Maximum length of the server's name, version, title and instructions, in characters. Longer texts are truncated. */
const MAX_TEXT_LENGTH = 20_000;
/** Maximum length of a server's capabilities as JSON, in characters. Longer capabilities are omitted. */
const MAX_CAPABILITIES_LENGTH = 20_000;

/** The part of the connection info that describes the server. */
export type ServerDetails = Pick<
  ConnectionInfo,
  "revision" | "era" | "server" | "instructions" | "capabilities" | "lists"
>;

/** The details before the handshake. */
export const NO_SERVER_DETAILS: ServerDetails = {
  revision: undefined,
  era: undefined,
  server: undefined,
  instructions: undefined,
  capabilities: {},
  lists: {},
};

/**
 * Returns the details of the server from the handshake, within the limits above. The counter of each list of the server
 * is one more than in `before`.
 */
export function serverDetails(client: Client, before: ConnectionInfo["lists"]): ServerDetails {
  const { serverInfo, instructions, serverCapabilities, protocolVersion } = client;
  const kinds = listsOf(serverCapabilities);
  return {
    ...revisionDetails(protocolVersion),
    server: serverInfo === undefined ? undefined : boundedServer(serverInfo),
    instructions: instructions?.slice(0, MAX_TEXT_LENGTH),
    capabilities: boundedCapabilities(serverCapabilities),
    lists: Object.fromEntries(kinds.map((kind) => [kind, (before[kind] ?? 0) + 1])),
  };
}

/** Returns a revision and its era. */
export function revisionDetails(revision: Revision): Pick<ConnectionInfo, "revision" | "era"> {
  return { revision, era: shownRevision(revision).era };
}

/** Returns the lists that a server with these capabilities has. */
function listsOf(capabilities: Client["serverCapabilities"]): OfferKind[] {
  const kinds: OfferKind[] = [];
  if (capabilities.tools !== undefined) kinds.push("tools");
  if (capabilities.resources !== undefined) kinds.push("resources", "templates");
  if (capabilities.prompts !== undefined) kinds.push("prompts");
  if (capabilities.extensions?.[SKILLS_EXTENSION] !== undefined) kinds.push("skills");
  return kinds;
}

function boundedServer({ name, version, title }: { name: string; version: string; title?: string | undefined }) {
  const cut = (text: string) => text.slice(0, MAX_TEXT_LENGTH);
  return { name: cut(name), version: cut(version), ...(title === undefined ? {} : { title: cut(title) }) };
}

function boundedCapabilities(capabilities: object): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(capabilities);
  return text.length > MAX_CAPABILITIES_LENGTH ? {} : { ...capabilities };
}
