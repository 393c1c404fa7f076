import { History } from "../history.js";
import { playSeed } from "../play-seed.js";
import type { Prng } from "../prng.js";
import { type ClusterPlan, SimCluster } from "../sim-cluster.js";
import { type HttpFaults, SimHttp } from "../sim-http.js";
import type { Weather } from "../sim-pipe.js";
import type { StorageFaults } from "../sim-storage.js";
import { Credentials } from "../trials.js";
import { watchHttp } from "../watch-wire.js";
import type { Violation, World } from "../world.js";
import { SimTaskClient, type TaskSurroundings, type Way } from "./sim-task-client.js";
import { TASK_KEYS, TaskLedger } from "./task-ledger.js";
import { type TaskPlan, taskServer } from "./task-tools.js";
import { answerTwice, listTasks, tryForeign } from "./try-foreign.js";

/** What one seed came to. */
export interface TaskSimulationResult {
  seed: number;
  traceHash: string;
  events: number;
  tasks: number;
  executions: number;
  /** How many tasks were taken over by another process. */
  takenOver: number;
  outcomes: Record<string, number>;
  violations: readonly Violation[];
  log: readonly string[] | undefined;
}

/** How long faults go on, in simulated milliseconds. */
const STORM_MS = 30_000;
/** When all faults are over, all tasks must be over within this time. */
const RECOVERY_MS = 110_000;
/** Longer than storm and recovery, so that no task may end by its age instead. */
const TTL_MS = 160_000;

let runs = 0;

/** Runs one seed of applications that begin tasks at servers that stop, are killed and come back. */
export function simulateTasks(seed: number, verbose = false): Promise<TaskSimulationResult> {
  return playSeed(seed, verbose, play);
}

async function play(world: World): Promise<TaskSimulationResult> {
  const random = world.random.fork("task plan");
  const calm = random.chance(0.1);
  const plan: TaskPlan = {
    ttlMs: TTL_MS,
    pollIntervalMs: random.pick([100, 700, 2_000]),
    leaseMs: random.pick([3_000, 6_000]),
    answerMs: 15_000,
  };
  const storm = new Storm(random.fork("storage faults"), calm);
  const ledger = new TaskLedger(world, 3 * plan.leaseMs + 5_000);
  const history = new History(world);
  const weather = weatherOf(random, calm);
  const clusterPlan: ClusterPlan = {
    nodes: random.int(1, 3),
    storage: "shared",
    fullness: undefined,
    credentials: new Credentials(world),
    rude: false,
    storageMs: random.pick([0, 2, 30]),
    http: { times: { streamAfterMs: random.pick([20, 1_000]) } },
    makeServer: (parts) => taskServer(parts, ledger, plan),
    storageFaults: storm,
    // The pause between two messages of a task may outlast the task.
    settleMs: 1_100,
    watchStorage: (shared) => ledger.watch(shared),
  };
  const cluster = new SimCluster(world, history, clusterPlan, weather);
  const watcher = watchHttp(world, history, clusterPlan.credentials);
  const http = new SimHttp(world, { ...weather }, faultsOf(random, calm), watcher);
  const url = `http://localhost/tasks-${++runs}`;
  const run: TaskSurroundings = {
    world,
    ledger,
    cluster,
    http,
    url,
    waitMs: TTL_MS + 60_000,
    outcomes: new Map(),
    calm,
  };
  const clients = Array.from(
    { length: random.int(2, 3) },
    (_, at) =>
      new SimTaskClient(run, {
        name: `c${at + 1}`,
        resend: random.pick(["idempotent", "idempotent", "always", "never"]),
        answers: random.chance(0.85),
      }),
  );
  for (const client of clients) schedule(run, client);
  if (!calm) disturb(world, cluster, random);
  await world.run(STORM_MS);
  storm.over = true;
  await recover(run, clients);
  await end(run, clients);
  return {
    seed: world.seed,
    traceHash: world.traceHash,
    events: world.events,
    tasks: ledger.tasks.size,
    executions: ledger.executions,
    takenOver: [...ledger.tasks.values()].filter(({ record }) => record.lease.token > 1).length,
    outcomes: Object.fromEntries(run.outcomes),
    violations: world.violations,
    log: world.log,
  };
}

/** All faults end: every task and every wait comes to its end, and every application can begin another task. */
async function recover(run: TaskSurroundings, clients: readonly SimTaskClient[]): Promise<void> {
  const { world, cluster, http, ledger, outcomes } = run;
  world.note("the storm is over");
  cluster.heal();
  http.heal();
  for (const client of clients) void client.connect(20);
  await world.run(world.elapsed + 40_000, () => clients.every(({ connecting }) => connecting === 0));
  const live = clients.filter(({ client }) => client !== undefined);
  if (live.length < clients.length) world.violate("liveness", "a client could not connect after the faults");
  // What nobody came back for is found again now.
  for (const client of live) {
    for (const started of client.started) if (client.random.chance(0.3)) void client.again(started);
  }
  // Connections that broke last are replaced meanwhile.
  await world.run(world.elapsed + 10_000);
  const before = outcomes.get("needed ok") ?? 0;
  for (const client of live) void client.begin("needed", "wait", { parts: 1, gap: 10 });
  await world.run(STORM_MS + RECOVERY_MS, () => clients.every(({ idle }) => idle) && allOver(ledger));
  ledger.checkEnded();
  const worked = (outcomes.get("needed ok") ?? 0) - before;
  if (worked < live.length)
    world.violate("liveness", `${live.length - worked} clients cannot run tasks after the faults`);
  await world.run(world.elapsed + run.waitMs, () => clients.every(({ idle }) => idle));
}

function allOver(ledger: TaskLedger): boolean {
  return [...ledger.tasks.keys()].every((id) => {
    const status = ledger.stored(id)?.status;
    return status !== "working" && status !== "input_required";
  });
}

async function end(run: TaskSurroundings, clients: readonly SimTaskClient[]): Promise<void> {
  const { world, cluster, http, ledger } = run;
  for (const client of clients) void client.close();
  await world.run(world.elapsed + 10_000, () => clients.every(({ idle }) => idle));
  let ended = false;
  void cluster.close().finally(() => {
    ended = true;
  });
  await world.run(world.elapsed + 10_000, () => ended);
  if (!ended) world.violate("I1", "the servers did not close");
  world.after(1_100, "nothing is left", () => {});
  await world.run(world.elapsed + 1_100);
  cluster.checkLeft();
  // What is known of processes is kept longer than their tasks.
  world.after(3 * TTL_MS, "every task has expired", () => {});
  await world.run(world.elapsed + 3 * TTL_MS);
  if (http.open.size > 0) world.violate("I8", `${http.open.size} HTTP requests are open in the end`);
  ledger.checkEmpty();
}

/** Storage that fails and messages that are lost, about tasks only and while the storm lasts. */
class Storm implements StorageFaults {
  over = false;
  readonly #random: Prng;
  readonly #failures: number;
  readonly #losses: number;

  constructor(random: Prng, calm: boolean) {
    this.#random = random;
    this.#failures = calm ? 0 : random.pick([0, 0, 0.01, 0.05]);
    this.#losses = calm ? 0 : random.pick([0, 0.2, 1]);
  }

  failure(key: string): "refused" | "done" | undefined {
    if (this.over || !key.startsWith(TASK_KEYS) || !this.#random.chance(this.#failures)) return undefined;
    return this.#random.pick(["refused", "done"]);
  }

  loses(topic: string): boolean {
    return !this.over && topic.endsWith("/changes") && this.#random.chance(this.#losses);
  }
}

function weatherOf(random: Prng, calm: boolean): Weather {
  return {
    latency: random.pick([0, 1, 20]),
    jitter: random.pick([0, 5, 100]),
    split: random.pick([0, 0.3]),
    stall: calm ? 0 : random.pick([0, 0, 0.02]),
    stallMs: random.int(200, 5_000),
    window: 65_536,
  };
}

function faultsOf(random: Prng, calm: boolean): HttpFaults {
  const share = () => (calm ? 0 : random.pick([0, 0, 0.02, 0.1]));
  return {
    refuse: share(),
    loseRequest: share(),
    loseAnswer: share(),
    cut: share(),
    silence: calm ? 0 : random.pick([0, 0, 0.02]),
  };
}

const TOOLS = [
  "stepped",
  "stepped",
  "needed",
  "plain",
  "retrying",
  "late",
  "asking",
  "asking",
  "failing",
  "short",
  "endless",
] as const;
const DIRECT = ["stepped", "plain", "retrying", "late"] as const;

/** What one application does, and when. */
function schedule(run: TaskSurroundings, client: SimTaskClient): void {
  const { world, calm } = run;
  const {
    random,
    plan: { name },
  } = client;
  world.after(random.int(0, 1_000), `${name} connects`, () => void client.connect(6));
  const count = random.int(3, 8);
  for (let at = 0; at < count; at++) {
    world.after(random.int(500, STORM_MS), `${name} acts`, () => act(run, client, random));
  }
  const leaves = calm ? 0 : random.int(0, 2);
  for (let at = 0; at < leaves; at++) {
    const crashes = random.chance(0.5);
    world.after(random.int(2_000, STORM_MS), `${name} leaves`, () => {
      if (crashes) client.crash();
      else void client.close();
      world.after(random.int(0, 5_000), `${name} comes back`, () => void client.connect(6));
    });
  }
}

function act(run: TaskSurroundings, client: SimTaskClient, random: Prng): void {
  const given = { parts: random.int(1, 3), gap: random.pick([0, 20, 700, 2_500]) };
  const kind = random.next();
  if (kind < 0.04) return void answerTwice(run, client);
  if (kind < 0.08) return void tryForeign(run, client);
  if (kind < 0.14) return void listTasks(run, client);
  if (kind < 0.2) return void client.direct(random.pick(DIRECT), given);
  const known = client.started[random.int(0, client.started.length - 1)];
  if (kind < 0.32 && known !== undefined) return void client.again(known);
  if (kind < 0.38 && known !== undefined) return void client.cancel(known);
  const tool = random.pick(TOOLS);
  const way: Way = tool === "endless" ? "cancel" : random.pick(["wait", "wait", "call", "watch", "leave", "cancel"]);
  void client.begin(tool, way, given);
}

/** Kills, stops and retires servers, cuts and silences pipes. */
function disturb(world: World, cluster: SimCluster, random: Prng): void {
  const faults = random.int(1, 8);
  for (let count = 0; count < faults; count++) {
    world.after(random.int(1_500, STORM_MS - 2_000), "fault", () => {
      const pipes = [...cluster.pipes].filter((pipe) => pipe.open);
      const pipe = pipes[random.int(0, pipes.length - 1)];
      const kind = random.pick(["crash", "crash", "pause", "pause", "retire", "cut", "silence"]);
      const index = random.int(0, cluster.nodes.length - 1);
      const process = cluster.nodes[index]?.process;
      if (kind === "cut") pipe?.cut();
      else if (kind === "silence") pipe?.silence();
      else if (kind === "pause") cluster.pause(index, random.int(500, 15_000));
      else {
        if (kind === "crash" || process?.pausedSince(world.now()) === true) cluster.crash(index);
        else void cluster.retire(index);
        world.after(random.int(0, 4_000), "start", () => cluster.start(index));
      }
    });
  }
}
