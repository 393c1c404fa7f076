import { type Client, connect } from "@parley/mcp";
import { afterAll, describe, expect, it } from "vitest";
import { peersInstalled } from "../mounts/peer-packages.js";
import { connectIn, type Place } from "./acts.js";
import { expectedOf, type Row, rowsOf, type TransportName } from "./matrix.js";
import { actsOf } from "./own-acts.js";
import { type PeerProcess, peerPath, startPeer } from "./peer-process.js";
import { type Outcomes, testRows } from "./run-rows.js";
import { foundBy, PEER_SERVERS, type PeerServer } from "./server-rows.js";

if (!peersInstalled) console.log("interop: the peers are not installed (npm run peers); nothing was tried with them");
const only = process.env["PEER"];
const peers = peersInstalled ? PEER_SERVERS.filter(({ name }) => only === undefined || name === only) : [];
const peerOf = new Map(peers.flatMap((peer) => rowsOf(peer, "server").map((row) => [row, peer] as const)));
const serving = new Map<string, Promise<PeerProcess>>();

afterAll(async () => {
  const all = await Promise.allSettled(serving.values());
  await Promise.all(all.map((one) => (one.status === "fulfilled" ? one.value.stop() : undefined)));
});

testRows([...peerOf.keys()], runRow);

describe.runIf(peers.length > 0)("left to itself", () => {
  const places = peers.flatMap((peer) =>
    foundBy(peer).map(([transport, revision]) => ({ peer, name: peer.name, transport, revision })),
  );
  it.each(places)("the client finds $revision at $name over $transport", async ({ peer, transport, revision }) => {
    const client = await connect(await placeOf(peer, transport), { onWarning: () => {} });
    try {
      expect(client.protocolVersion).toBe(revision);
    } finally {
      await client.close();
    }
  });
});

async function runRow(row: Row): Promise<Outcomes> {
  const peer = peerOf.get(row);
  if (peer === undefined) throw new Error("the row has no peer");
  const place = await placeOf(peer, row.transport);
  const outcomes: Outcomes = {};
  const clients: Client[] = [];
  const connectOne: typeof connectIn = async (...given) => {
    const client = await connectIn(...given);
    clients.push(client);
    return client;
  };
  try {
    const client = await connectOne(row, place);
    const stage = { row, client, connect: (options = {}) => connectOne(row, place, options) };
    const acts = actsOf(peer.name);
    for (const feature of expectedOf(row)) {
      if (feature === "connect") continue;
      await within(60_000, acts[feature](stage)).catch((error: unknown) => {
        outcomes[feature] = error;
      });
    }
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
  return outcomes;
}

async function placeOf(peer: PeerServer, transport: TransportName): Promise<Place> {
  const args = [...(peer.args[transport] ?? [])];
  if (transport === "stdio") return { command: process.execPath, args: [peerPath(peer.program), ...args] };
  const key = `${peer.name} ${transport}`;
  const started = serving.get(key) ?? startPeer(peer.program, args);
  serving.set(key, started);
  return (await started).url;
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came of it within ${ms} ms`)), ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
