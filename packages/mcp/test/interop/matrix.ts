import { featuresOf, type Revision } from "../../src/protocol/revisions.js";

/** What is tried with every peer; the columns of the table. */
export const FEATURES = [
  "connect",
  "list",
  "call",
  "progress",
  "elicit",
  "sample",
  "cancel",
  "subscribe",
  "resume",
  "task",
] as const;
export type Feature = (typeof FEATURES)[number];

export type TransportName = "stdio" | "Streamable HTTP" | "HTTP+SSE";

/** Why features cannot be had from somebody; those not named must work. */
export type Lacks = Partial<Record<Feature, string>>;

/** One peer over one transport in one revision. */
export interface Row {
  readonly peer: string;
  /** What the peer is; Parley is the other end. */
  readonly role: "server" | "client";
  readonly transport: TransportName;
  readonly revision: Revision;
  readonly lacks: Lacks;
}

/** Somebody else's implementation, in one of the two roles. */
export interface Peer {
  readonly name: string;
  readonly package: string;
  /** The revisions that it speaks over each transport that it has. */
  readonly transports: Partial<Record<TransportName, readonly Revision[]>>;
  /** What it does not do; what the protocol itself lacks need not be named. */
  lacks(transport: TransportName, revision: Revision): Lacks;
}

/** All rows of one peer. */
export function rowsOf(peer: Peer, role: Row["role"]): Row[] {
  // The keys of a record are known to the compiler only when it is written out.
  const entries = Object.entries(peer.transports) as [TransportName, readonly Revision[]][];
  return entries.flatMap(([transport, revisions]) =>
    revisions.map((revision) => {
      const lacks = { ...peer.lacks(transport, revision), ...missingInProtocol(transport, revision) };
      return { peer: peer.name, role, transport, revision, lacks };
    }),
  );
}

/** A row's name in test output. */
export function titleOf({ peer, role, transport, revision }: Row): string {
  return `${peer} ${role}, ${transport}, ${revision}`;
}

/** The features that must work in a row. */
export function expectedOf({ lacks }: Row): Feature[] {
  return FEATURES.filter((feature) => lacks[feature] === undefined);
}

/** What no peer can have, because the protocol itself has no place for it. */
function missingInProtocol(transport: TransportName, revision: Revision): Lacks {
  const features = featuresOf(revision);
  const lacks: Lacks = {};
  if (features.elicitation === "none") lacks.elicit = "the revision has no elicitation";
  if (features.tasks === "none") lacks.task = "the revision has no tasks";
  if (features.era === "stateless") lacks.resume = "the revision has no resumption";
  else if (transport === "stdio") lacks.resume = "a pipe has no streams to come back to";
  else if (transport === "HTTP+SSE") lacks.resume = "the transport has no resumption";
  return lacks;
}
