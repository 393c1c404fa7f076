import type { Revision } from "../../src/protocol/revisions.js";
import { History } from "./history.js";
import { playSeed } from "./play-seed.js";
import type { Prng } from "./prng.js";
import { type ClientPlan, SimClient, type Surroundings } from "./sim-client.js";
import { type ClusterPlan, SimCluster } from "./sim-cluster.js";
import { type HttpFaults, SimHttp } from "./sim-http.js";
import type { Weather } from "./sim-pipe.js";
import { Credentials, FullStorage, jumpClock, type Trials, trialsOf } from "./trials.js";
import { watchHttp } from "./watch-wire.js";
import type { Violation, World } from "./world.js";

/** What one seed came to. */
export interface SimulationResult {
  seed: number;
  traceHash: string;
  events: number;
  calls: number;
  executions: number;
  /** How many calls ended in each way. */
  outcomes: Record<string, number>;
  violations: readonly Violation[];
  log: readonly string[] | undefined;
}

/** How long faults go on, in simulated milliseconds. */
const STORM_MS = 60_000;
/** The longest deadline of a call. */
const LONGEST_MS = 120_000;
/** After the faults everything must work again within this time. */
const RECOVERY_MS = 300_000;

let runs = 0;

/** Runs one seed from its first connection to its last trace. */
export function simulate(seed: number, verbose = false): Promise<SimulationResult> {
  return playSeed(seed, verbose, play);
}

async function play(world: World): Promise<SimulationResult> {
  const history = new History(world);
  const random = world.random.fork("plan");
  const trials = trialsOf(world);
  const credentials = new Credentials(world);
  const weather = weatherOf(random, trials);
  const fullness = trials.fullStorage ? new FullStorage(world, random.fork("storage"), STORM_MS) : undefined;
  const plan: ClusterPlan = { ...clusterPlan(random, trials), fullness, credentials, rude: trials.rude };
  const cluster = new SimCluster(world, history, plan, weather);
  const http = new SimHttp(world, { ...weather }, faultsOf(random, trials), watchHttp(world, history, credentials));
  const url = `http://localhost/run-${++runs}`;
  const run: Surroundings = { world, history, cluster, http, credentials, url };
  const count = random.int(1, 4);
  const clients = Array.from({ length: count }, (_, at) => new SimClient(run, clientPlan(random, at + 1, trials)));
  for (const client of clients) schedule(world, client, trials);
  if (random.chance(0.8) && !trials.calm) disturb(world, cluster, random);
  if (trials.clockJumps) jumpClock(world, STORM_MS);
  if (trials.expiry)
    for (const {
      plan: { name },
    } of clients)
      credentials.expire(name, random.int(5_000, STORM_MS));
  publish(world, cluster, clients, random);
  await world.run(STORM_MS);
  await recover(run, clients);
  await end(run, clients);
  return {
    seed: world.seed,
    traceHash: world.traceHash,
    events: world.events,
    calls: history.calls.size,
    executions: history.executions.length,
    outcomes: Object.fromEntries(history.outcomes),
    violations: world.violations,
    log: world.log,
  };
}

/** All faults end; every call comes to its end, and every client that is left works. */
export async function recover(
  { world, history, cluster, http }: Surroundings,
  clients: readonly SimClient[],
): Promise<void> {
  world.note("the storm is over");
  cluster.heal();
  http.heal();
  const from = world.elapsed;
  await world.run(
    from + LONGEST_MS + RECOVERY_MS,
    () => history.pending === 0 && clients.every((one) => !one.connecting),
  );
  const live = clients.filter((client) => client.usable);
  const before = history.outcomes.get("ok") ?? 0;
  for (const client of live)
    client.call("echo", { options: { resend: "always", timeouts: { idleMs: RECOVERY_MS, totalMs: RECOVERY_MS } } });
  await world.run(world.elapsed + RECOVERY_MS + 1_000, () => history.pending === 0);
  const answered = (history.outcomes.get("ok") ?? 0) - before;
  if (answered < live.length)
    world.violate("liveness", `${live.length - answered} clients do not work after the faults`);
  await hearAgain(world, cluster, live);
}

/** A change after the faults reaches every subscription that has not ended. */
async function hearAgain(world: World, cluster: SimCluster, live: readonly SimClient[]): Promise<void> {
  const watches = live.flatMap((client) => client.watches).filter((watch) => !watch.over);
  await world.run(world.elapsed + RECOVERY_MS / 2);
  const heard = watches.map((watch) => watch.heard);
  const waiting = () => watches.filter((watch, at) => !watch.over && watch.heard === heard[at]);
  for (const { uri } of watches) cluster.pick()?.server.resourceUpdated(uri);
  await world.run(world.elapsed + RECOVERY_MS, () => waiting().length === 0);
  for (const { uri } of waiting()) world.violate("liveness", `nobody told the subscriber of ${uri}`);
}

export async function end({ world, cluster, http }: Surroundings, clients: readonly SimClient[]): Promise<void> {
  let closing = clients.length;
  for (const client of clients) void client.close().finally(() => closing--);
  await world.run(world.elapsed + 10_000, () => closing === 0);
  if (closing > 0) world.violate("I1", `${closing} clients did not close`);
  let ended = false;
  void cluster.close().finally(() => {
    ended = true;
  });
  await world.run(world.elapsed + 10_000, () => ended);
  if (!ended) world.violate("I1", "the servers did not close");
  // The end of a server waits for its storage.
  world.after(1_100, "nothing is left", () => {});
  await world.run(world.elapsed + 1_100);
  cluster.checkLeft();
  // What is still under way must disturb nobody.
  await world.run(world.elapsed + 120_000);
  if (http.open.size > 0) world.violate("I8", `${http.open.size} HTTP requests are open in the end`);
}

const REVISIONS: readonly [readonly Revision[] | undefined, ...(readonly Revision[] | undefined)[]] = [
  undefined,
  ["2026-07-28"],
  ["2025-11-25"],
  ["2025-11-25"],
  ["2025-06-18"],
  ["2025-03-26"],
  ["2026-07-28", "2025-11-25"],
];

function clientPlan(random: Prng, number: number, { calm, clockJumps, fullStorage }: Trials): ClientPlan {
  return {
    name: `c${number}`,
    by: random.pick(["pipe", "http"]),
    revisions: random.pick(REVISIONS),
    timeouts: {
      connectMs: random.int(2_000, 30_000),
      idleMs: calm ? LONGEST_MS : random.int(1_000, 60_000),
      totalMs: calm ? LONGEST_MS : random.int(2_000, 60_000),
    },
    resend: random.pick(["idempotent", "idempotent", "always", "never"]),
    answers: random.chance(0.8),
    mustWork: (tool) =>
      calm &&
      // Sealed state has an age on the wall clock, and what is put off has nowhere to wait while the storage is full.
      !(clockJumps && ASKING.has(tool)) &&
      !(fullStorage && tool === "paused"),
    mayMiss: (tool) => fullStorage && tool === "paused",
  };
}

const ASKING: ReadonlySet<string> = new Set(["ask", "charge"]);

type OwnPlan = Pick<ClusterPlan, "nodes" | "storage" | "storageMs" | "http">;

function clusterPlan(random: Prng, { calm }: Trials): OwnPlan {
  const storage = random.pick(["own", "own", "shared"] as const);
  return {
    nodes: storage === "shared" ? random.int(1, 2) : 1,
    storage,
    storageMs: random.pick([0, 1, 20]),
    http: {
      times: {
        streamAfterMs: random.pick([20, 1_000]),
        ...(random.chance(0.2) && !calm ? { sessionIdleMs: 10_000, handshakeMs: 3_000 } : {}),
      },
      limits: random.chance(0.2) && !calm ? { maxQueuedBytes: 2_048 } : {},
      eventLog: random.chance(0.2) && !calm ? { maxEvents: 3 } : {},
    },
  };
}

function weatherOf(random: Prng, { calm, expiry }: Trials): Weather {
  const drawn = {
    latency: random.pick([0, 1, 20]),
    jitter: random.pick([0, 5, 100]),
    split: random.pick([0, 0.3, 0.7]),
    stall: random.pick([0, 0, 0.02]),
    stallMs: random.int(200, 20_000),
    window: random.pick([64, 2_000, 65_536]),
  };
  // What waits on the way would be taken for something that was said late.
  return calm || expiry ? { ...drawn, stall: 0, window: 65_536 } : drawn;
}

function faultsOf(random: Prng, { calm }: Trials): HttpFaults {
  if (calm) return { refuse: 0, loseRequest: 0, loseAnswer: 0, cut: 0, silence: 0 };
  const share = () => random.pick([0, 0, 0.02, 0.1]);
  return {
    refuse: share(),
    loseRequest: share(),
    loseAnswer: share(),
    cut: share(),
    silence: random.pick([0, 0, 0.02]),
  };
}

/** What one application does, and when. */
function schedule(world: World, client: SimClient, { calm }: Trials): void {
  const { random } = client;
  world.after(random.int(0, 2_000), `${client.plan.name} connects`, () => void client.connect(4));
  const count = random.int(3, 10);
  for (let at = 0; at < count; at++) {
    // Now and then several at once, which must share what there is to share: one recovery, one stream.
    const times = random.chance(0.15) ? random.int(2, 6) : 1;
    world.after(random.int(0, STORM_MS), `${client.plan.name} acts`, () => {
      for (let time = 0; time < times; time++) act(client, random, calm);
    });
  }
  if (random.chance(0.15) && !calm) {
    world.after(random.int(1_000, STORM_MS), `${client.plan.name} leaves`, () => void client.close());
  }
}

const TOOLS = ["echo", "write", "write", "write", "stubborn", "ask", "ask", "charge", "paused", "fails"] as const;

/** One act of an application, whatever comes to its mind. */
export function act(client: SimClient, random: Prng, calm: boolean): void {
  if (random.chance(0.15)) return void client.subscribe();
  if (random.chance(0.15)) return void client.ask(random.pick(["tools", "read", "ping"]));
  const tool = random.pick(TOOLS);
  const steps = tool === "ask" ? random.int(1, 3) : random.int(0, 8);
  const cancel = random.chance(0.2) ? { cancelAfter: random.int(0, 3_000) } : {};
  const resend = ASKING.has(tool) ? { resend: "never" as const } : {};
  const timeouts =
    random.chance(0.3) && !calm
      ? { timeouts: { idleMs: random.int(100, 5_000), totalMs: random.int(200, LONGEST_MS) } }
      : {};
  client.call(tool, { steps, gap: random.pick([0, 5, 300, 2_000]), ...cancel, options: { ...resend, ...timeouts } });
}

/** Kills servers, cuts and silences pipes. */
function disturb(world: World, cluster: SimCluster, random: Prng): void {
  const faults = random.int(1, 8);
  for (let count = 0; count < faults; count++) {
    world.after(random.int(500, STORM_MS - 5_000), "fault", () => {
      const pipes = [...cluster.pipes].filter((pipe) => pipe.open);
      const pipe = pipes[random.int(0, pipes.length - 1)];
      const kind = random.pick(["crash", "retire", "cut", "cut", "silence"]);
      const index = random.int(0, cluster.nodes.length - 1);
      if (kind === "cut") pipe?.cut();
      else if (kind === "silence") pipe?.silence();
      else {
        if (kind === "crash") cluster.crash(index);
        else void cluster.retire(index);
        world.after(random.int(0, 4_000), "start", () => cluster.start(index));
      }
    });
  }
}

/** Changes resources, and says numbered things to everybody. */
function publish(world: World, cluster: SimCluster, clients: readonly SimClient[], random: Prng): void {
  const counts = new Map<string, number>();
  for (let at = random.int(500, 3_000); at < STORM_MS; at += random.int(500, 6_000)) {
    world.after(at, "news", () => {
      const node = cluster.pick();
      if (node === undefined) return;
      if (random.chance(0.7)) {
        const number = (counts.get(node.process.name) ?? 0) + 1;
        counts.set(node.process.name, number);
        node.server.log("info", { from: node.process.name, number });
      }
      const client = clients[random.int(0, clients.length - 1)];
      for (const { uri } of client?.watches ?? []) node.server.resourceUpdated(uri);
    });
  }
}
