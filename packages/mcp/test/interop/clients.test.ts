import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "vitest";
import { serveHttp } from "../../src/node/http/serve-http.js";
import { peersInstalled } from "../mounts/peer-packages.js";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import { PEER_CLIENTS, type PeerClient } from "./client-rows.js";
import { inspect } from "./inspector.js";
import { expectedOf, type Feature, type Row, rowsOf } from "./matrix.js";
import { ourServer } from "./our-server.js";
import { peerPath, type ServedAt } from "./peer-process.js";
import { type Outcomes, testRows } from "./run-rows.js";

const run = promisify(execFile);

if (!peersInstalled) console.log("interop: the peers are not installed (npm run peers); nothing was tried with them");
const only = process.env["PEER"];
const peers = peersInstalled ? PEER_CLIENTS.filter(({ name }) => only === undefined || name === only) : [];
const peerOf = new Map(peers.flatMap((peer) => rowsOf(peer, "client").map((row) => [row, peer] as const)));
let program: Promise<string> | undefined;

testRows([...peerOf.keys()], runRow);

async function runRow(row: Row): Promise<Outcomes> {
  const peer = peerOf.get(row);
  if (peer === undefined) throw new Error("the row has no peer");
  if (row.transport === "stdio") {
    program ??= bundleFixture(new URL("./our-server-stdio.ts", import.meta.url));
    return tryAll(peer, row, { command: process.execPath, args: [await program, row.revision] });
  }
  const handle = await serveHttp(ourServer(row.revision), { port: 0, legacySse: {} });
  const url = row.transport === "HTTP+SSE" ? new URL("/sse", handle.url).href : handle.url;
  return tryAll(peer, row, { url }).finally(() => handle.close());
}

function tryAll(peer: PeerClient, row: Row, place: ServedAt): Promise<Outcomes> {
  return peer.program === "inspector" ? inspect(row, place) : runProgram(peer.program, row, place);
}

/** The program writes one line for each feature; what it did not write of did not work. */
async function runProgram(path: string, row: Row, place: ServedAt): Promise<Outcomes> {
  const features = expectedOf(row);
  const task = JSON.stringify({ place, revision: row.revision, features });
  const ended = await run(process.execPath, [peerPath(path), task], { timeout: 60_000 }).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  const lines = ended.stdout.split("\n").filter((line) => line.startsWith("{"));
  const told = new Map(lines.map((line) => outcomeOf(line)));
  const silent = `the program said nothing of it; its last words: ${ended.stderr.slice(-2000)}`;
  return Object.fromEntries(
    features.map((feature) => {
      const trouble = told.has(feature) ? told.get(feature) : silent;
      return [feature, trouble === undefined ? undefined : new Error(trouble)];
    }),
  );
}

function outcomeOf(line: string): [Feature, string | undefined] {
  const { feature, trouble } = JSON.parse(line) as { feature: Feature; trouble?: string };
  expect(feature).toBeTypeOf("string");
  return [feature, trouble];
}
