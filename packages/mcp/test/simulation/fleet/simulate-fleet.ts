import { History } from "../history.js";
import { playSeed } from "../play-seed.js";
import type { Prng } from "../prng.js";
import { type ClientPlan, SimClient, type Surroundings } from "../sim-client.js";
import { SimCluster } from "../sim-cluster.js";
import { SimHttp } from "../sim-http.js";
import type { Weather } from "../sim-pipe.js";
import { act, end, recover } from "../simulate.js";
import { Credentials } from "../trials.js";
import { watchHttp } from "../watch-wire.js";
import type { Violation, World } from "../world.js";
import { SimShards } from "./sim-shards.js";

/** What one seed came to. */
export interface FleetResult {
  seed: number;
  traceHash: string;
  events: number;
  calls: number;
  executions: number;
  /** Nodes that died or were replaced, and shards that died or were slow. */
  blows: number;
  outcomes: Record<string, number>;
  /** Calls that each shard of the storage had, and messages that it passed on. */
  loads: readonly { operations: number; deliveries: number }[];
  violations: readonly Violation[];
  log: readonly string[] | undefined;
}

const NODES = 50;
const SHARDS = 16;
const CLIENTS = 24;
const ACTS = 150;
const NODE_BLOWS = 40;
const SHARD_BLOWS = 10;
/** How long faults go on, in simulated milliseconds. */
const STORM_MS = 60_000;

let runs = 0;

/** Runs one seed of many nodes on a storage of many shards: both die and come back while few clients make most of the calls. */
export function simulateFleet(seed: number, verbose = false): Promise<FleetResult> {
  return playSeed(seed, verbose, play);
}

async function play(world: World): Promise<FleetResult> {
  const history = new History(world);
  const random = world.random.fork("fleet");
  const credentials = new Credentials(world);
  const weather: Weather = { latency: 1, jitter: 5, split: 0.2, stall: 0, stallMs: 0, window: 65_536 };
  const shards = new SimShards(world, SHARDS, random.pick([1, 3, 20]));
  const cluster = new SimCluster(
    world,
    history,
    {
      nodes: NODES,
      storage: "shared",
      fullness: undefined,
      credentials,
      rude: false,
      storageMs: 0,
      // A node that ends has asked its storage for things that it does not wait for.
      settleMs: 5_000,
      http: { times: { streamAfterMs: random.pick([20, 1_000]) } },
      makeStorage: (process, own) => shards.storageFor(process, own),
    },
    weather,
  );
  const faults = { refuse: 0, loseRequest: 0.01, loseAnswer: 0.01, cut: 0.03, silence: 0 };
  const http = new SimHttp(world, { ...weather }, faults, watchHttp(world, history, credentials));
  const run: Surroundings = { world, history, cluster, http, credentials, url: `http://localhost/fleet-${++runs}` };
  const clients = Array.from({ length: CLIENTS }, (_, at) => new SimClient(run, clientPlan(random, at + 1)));
  for (const client of clients)
    world.after(random.int(0, 2_000), `${client.plan.name} connects`, () => void client.connect(8));
  load(world, clients, random);
  news(world, cluster, clients, random);
  const blows = strike(world, cluster, shards, random);
  await world.run(STORM_MS);
  shards.heal();
  await recover(run, clients);
  const { loads } = shards;
  await end(run, clients);
  return {
    ...{ seed: world.seed, traceHash: world.traceHash, events: world.events, loads, blows },
    ...{ calls: history.calls.size, executions: history.executions.length },
    outcomes: Object.fromEntries(history.outcomes),
    ...{ violations: world.violations, log: world.log },
  };
}

function clientPlan(random: Prng, number: number): ClientPlan {
  return {
    name: `c${number}`,
    by: "http",
    revisions: random.pick([["2026-07-28"], ["2025-11-25"], ["2025-11-25"]] as const),
    timeouts: { connectMs: 20_000, idleMs: random.int(5_000, 60_000), totalMs: 60_000 },
    resend: random.pick(["idempotent", "never"]),
    answers: random.chance(0.9),
    mustWork: () => false,
    mayMiss: () => false,
  };
}

/** The first client acts twice as often as the second, three times as often as the third, and so on. */
function load(world: World, clients: readonly SimClient[], random: Prng): void {
  const weights = clients.map((_, at) => 1 / (at + 1));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  for (let count = 0; count < ACTS; count++) {
    let drawn = random.next() * sum;
    const at = weights.findIndex((weight) => {
      drawn -= weight;
      return drawn < 0;
    });
    const client = clients[Math.max(0, at)];
    if (client === undefined) continue;
    world.after(random.int(2_000, STORM_MS), `${client.plan.name} acts`, () => act(client, client.random, false));
  }
}

/** Nodes tell of changes, mostly of what the busiest clients watch. */
function news(world: World, cluster: SimCluster, clients: readonly SimClient[], random: Prng): void {
  for (let at = random.int(2_000, 4_000); at < STORM_MS; at += random.int(500, 3_000)) {
    world.after(at, "news", () => {
      const client = clients[Math.floor(clients.length * random.next() ** 3)];
      for (const { uri } of client?.watches ?? []) cluster.pick()?.server.resourceUpdated(uri);
    });
  }
}

function strike(world: World, cluster: SimCluster, shards: SimShards, random: Prng): number {
  for (let count = 0; count < NODE_BLOWS; count++) {
    world.after(random.int(1_000, STORM_MS - 5_000), "a node is hit", () => {
      const index = random.int(0, NODES - 1);
      if (random.chance(0.7)) cluster.crash(index);
      else void cluster.retire(index);
      world.after(random.int(500, 5_000), "start", () => cluster.start(index));
    });
  }
  for (let count = 0; count < SHARD_BLOWS; count++) {
    world.after(random.int(1_000, STORM_MS - 10_000), "a shard is hit", () => {
      const at = random.int(0, SHARDS - 1);
      if (random.chance(0.5)) shards.kill(at, random.int(200, 8_000));
      else shards.slow(at, random.int(200, 3_000), random.int(1_000, 8_000));
    });
  }
  return NODE_BLOWS + SHARD_BLOWS;
}
