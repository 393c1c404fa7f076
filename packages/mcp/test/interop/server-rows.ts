import type { Revision } from "../../src/protocol/revisions.js";
import type { Peer, TransportName } from "./matrix.js";

/** A server that somebody else made. */
export interface PeerServer extends Peer {
  /** A program of `peers/programs` or of `peers/node_modules`, and its arguments for each transport. */
  readonly program: string;
  readonly args: Partial<Record<TransportName, readonly string[]>>;
  /** What a client that asks for the newest is given, where that is not the newest row. */
  readonly gives?: Partial<Record<TransportName, Revision>>;
}

const STATEFUL: readonly Revision[] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const ALL: readonly Revision[] = [...STATEFUL, "2026-07-28"];

const OFFICIAL_V1: PeerServer = {
  name: "official SDK v1",
  package: "@modelcontextprotocol/sdk",
  transports: { stdio: STATEFUL, "Streamable HTTP": STATEFUL, "HTTP+SSE": ["2024-11-05"] },
  program: "programs/interop-official-v1-server.mjs",
  gives: { "HTTP+SSE": "2025-11-25" },
  args: { stdio: ["stdio"], "Streamable HTTP": ["http"], "HTTP+SSE": ["sse"] },
  lacks: () => ({}),
};

const OFFICIAL_V2: PeerServer = {
  name: "official SDK v2",
  package: "@modelcontextprotocol/server",
  transports: { stdio: ALL, "Streamable HTTP": ALL },
  program: "programs/interop-official-v2-server.mjs",
  args: { stdio: ["stdio"], "Streamable HTTP": ["http"] },
  lacks: () => ({ task: "servers of the official SDK v2 have no tasks" }),
};

const MCP_LITE: PeerServer = {
  name: "mcp-lite",
  package: "mcp-lite",
  transports: { "Streamable HTTP": ["2025-03-26", "2025-06-18"] },
  program: "programs/interop-mcp-lite-server.mjs",
  gives: { "Streamable HTTP": "2025-03-26" },
  args: { "Streamable HTTP": [] },
  lacks: () => ({
    cancel: "mcp-lite gives its handlers no signal",
    resume: "mcp-lite puts no event ids on the streams of requests",
  }),
};

const TMCP: PeerServer = {
  name: "tmcp",
  package: "tmcp",
  transports: {
    stdio: ["2024-11-05", "2025-03-26", "2025-06-18", "2026-07-28"],
    "Streamable HTTP": ["2024-11-05", "2025-03-26", "2025-06-18", "2026-07-28"],
  },
  program: "programs/interop-tmcp-server.mjs",
  args: { stdio: ["stdio"], "Streamable HTTP": ["http"] },
  lacks: (transport) => ({
    ...(transport === "stdio" ? { cancel: "tmcp gives its handlers no signal over stdio" } : {}),
    resume: "tmcp puts no event ids on its streams",
    task: "tmcp has no tasks",
  }),
};

const FASTMCP: PeerServer = {
  name: "fastmcp",
  package: "fastmcp",
  transports: { stdio: STATEFUL, "Streamable HTTP": STATEFUL },
  program: "programs/interop-fastmcp-server.mjs",
  args: { stdio: ["stdio"], "Streamable HTTP": ["http"] },
  lacks: () => ({ task: "fastmcp has no tasks" }),
};

const EVERYTHING: PeerServer = {
  name: "server-everything",
  package: "@modelcontextprotocol/server-everything",
  transports: { stdio: STATEFUL, "Streamable HTTP": STATEFUL, "HTTP+SSE": ["2024-11-05"] },
  program: "node_modules/@modelcontextprotocol/server-everything/dist/index.js",
  gives: { "HTTP+SSE": "2025-11-25" },
  args: { stdio: ["stdio"], "Streamable HTTP": ["streamableHttp"], "HTTP+SSE": ["sse"] },
  lacks: () => ({ cancel: "none of its tools looks at a cancellation" }),
};

const FILESYSTEM: PeerServer = {
  name: "server-filesystem",
  package: "@modelcontextprotocol/server-filesystem",
  transports: { stdio: STATEFUL },
  program: "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
  args: { stdio: [] },
  lacks: () => ({
    progress: "none of its tools reports progress",
    elicit: "it asks for roots only",
    sample: "it asks for roots only",
    cancel: "none of its tools looks at a cancellation",
    subscribe: "it offers tools only",
    task: "none of its tools runs as a task",
  }),
};

export const PEER_SERVERS: readonly PeerServer[] = [
  OFFICIAL_V1,
  OFFICIAL_V2,
  MCP_LITE,
  TMCP,
  FASTMCP,
  EVERYTHING,
  FILESYSTEM,
];

/** The revision that Parley's client must come to by itself, over each transport of a peer. */
export function foundBy(peer: PeerServer): [TransportName, Revision][] {
  const entries = Object.entries(peer.transports) as [TransportName, readonly Revision[]][];
  return entries.map(([transport, revisions]) => [
    transport,
    peer.gives?.[transport] ?? revisions.at(-1) ?? "2024-11-05",
  ]);
}
