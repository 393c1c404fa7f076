import type { Revision } from "../../src/protocol/revisions.js";
import { FEATURES, type Lacks, type Peer } from "./matrix.js";

/** A client that somebody else made. */
export interface PeerClient extends Peer {
  /** How its features are tried: by a program of `peers/programs`, or by the inspector's own command line. */
  readonly program: string | "inspector";
}

const STATEFUL: readonly Revision[] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const ALL: readonly Revision[] = [...STATEFUL, "2026-07-28"];

const OFFICIAL_V1: PeerClient = {
  name: "official SDK v1",
  package: "@modelcontextprotocol/sdk",
  transports: { stdio: STATEFUL, "Streamable HTTP": STATEFUL, "HTTP+SSE": ["2024-11-05"] },
  program: "programs/interop-official-v1-client.mjs",
  lacks: () => ({}),
};

const OFFICIAL_V2: PeerClient = {
  name: "official SDK v2",
  package: "@modelcontextprotocol/client",
  transports: { stdio: ALL, "Streamable HTTP": ALL, "HTTP+SSE": ["2024-11-05"] },
  program: "programs/interop-official-v2-client.mjs",
  lacks: (transport, revision): Lacks =>
    transport === "stdio" && revision === "2026-07-28"
      ? { task: "`ext-tasks`, which adds tasks to it, leaves sending to its host, and ours sends over HTTP" }
      : {},
};

const ONE_REQUEST = "the inspector's command line makes one request and prints its result";

const INSPECTOR: PeerClient = {
  name: "inspector CLI",
  package: "@modelcontextprotocol/inspector",
  transports: { stdio: ["2025-11-25", "2026-07-28"], "Streamable HTTP": ["2025-11-25", "2026-07-28"] },
  program: "inspector",
  lacks: () => {
    const tried = new Set(["connect", "list", "call"]);
    return Object.fromEntries(FEATURES.filter((one) => !tried.has(one)).map((one) => [one, ONE_REQUEST]));
  },
};

export const PEER_CLIENTS: readonly PeerClient[] = [OFFICIAL_V1, OFFICIAL_V2, INSPECTOR];

/** Peers that have a server only. */
export const WITHOUT_CLIENT: Readonly<Record<string, string>> = {
  "mcp-lite": "it is a server library",
  tmcp: "it is a server library; its in-memory transport calls a server of the same process",
  fastmcp: "it is a server library",
};
