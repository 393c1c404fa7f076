import type { Client } from "@parley/mcp";
import { type Revision, shownRevision } from "@parley/mcp/protocol";
import { SKILLS_EXTENSION } from "@parley/mcp/skills";
import type { ConnectionInfo, OfferKind } from "../contract/connections.js";

/** Characters of what a server says of itself that are shown. */
const MOST_WORDS = 20_000;
/** Characters of a server's capabilities, as JSON. */
const MOST_CAPABILITIES = 20_000;

/** What a connection shows of its server. */
export type ConnectionFacts = Pick<
  ConnectionInfo,
  "revision" | "era" | "server" | "instructions" | "capabilities" | "lists"
>;

/** What is shown of a server before anything is known of it. */
export const NO_FACTS: ConnectionFacts = {
  revision: undefined,
  era: undefined,
  server: undefined,
  instructions: undefined,
  capabilities: {},
  lists: {},
};

/** What a client knows of its server, bounded; every list counts as changed since `before`. */
export function factsOfServer(client: Client, before: ConnectionInfo["lists"]): ConnectionFacts {
  const { serverInfo, instructions, serverCapabilities, protocolVersion } = client;
  const kinds = listsOf(serverCapabilities);
  return {
    ...revisionFacts(protocolVersion),
    server: serverInfo === undefined ? undefined : shownServer(serverInfo),
    instructions: instructions?.slice(0, MOST_WORDS),
    capabilities: shownCapabilities(serverCapabilities),
    lists: Object.fromEntries(kinds.map((kind) => [kind, (before[kind] ?? 0) + 1])),
  };
}

/** A revision, and the era that it belongs to. */
export function revisionFacts(revision: Revision): Pick<ConnectionInfo, "revision" | "era"> {
  return { revision, era: shownRevision(revision).era };
}

/** The lists that a server with these capabilities has. */
function listsOf(capabilities: Client["serverCapabilities"]): OfferKind[] {
  const kinds: OfferKind[] = [];
  if (capabilities.tools !== undefined) kinds.push("tools");
  if (capabilities.resources !== undefined) kinds.push("resources", "templates");
  if (capabilities.prompts !== undefined) kinds.push("prompts");
  if (capabilities.extensions?.[SKILLS_EXTENSION] !== undefined) kinds.push("skills");
  return kinds;
}

function shownServer({ name, version, title }: { name: string; version: string; title?: string | undefined }) {
  const cut = (text: string) => text.slice(0, MOST_WORDS);
  return { name: cut(name), version: cut(version), ...(title === undefined ? {} : { title: cut(title) }) };
}

function shownCapabilities(capabilities: object): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(capabilities);
  return text.length > MOST_CAPABILITIES ? {} : { ...capabilities };
}
