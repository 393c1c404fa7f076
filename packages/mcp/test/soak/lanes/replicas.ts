import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { orphansOf } from "../../chaos/orphans.js";
import { exactly, type Lane, type LaneResult, type LaneSettings, type Measure, scaled, told } from "../lane.js";
import { type Program, startProgram } from "../program.js";
import { CallLedger, type LedgerCounts } from "../replicas/call-ledger.js";
import { Crowd } from "../replicas/crowd.js";
import { hasRedis, RedisServers, WITHOUT_REDIS } from "../replicas/redis-servers.js";
import { ReplicaSet } from "../replicas/replica-set.js";
import { seededRandom } from "../seeded-random.js";
import { waitFor } from "../wait-for.js";

const REPLICAS = 3;
const PRINCIPALS = 4;
/** Sessions, streams and tasks that nobody ended are gone after this time; in a short run, after less. */
const IDLE_MS = 30_000;
const SHORT_IDLE_MS = 8_000;
const TINY_IDLE_MS = 4_000;
/** Below this part of the full size it is a test of the lane more than of the replicas. */
const TINY = 0.05;

/** How much of each fault, and for how long the crowd is busy. */
interface Size {
  readonly seconds: number;
  readonly kills: number;
  readonly restarts: number;
  readonly pauses: number;
  readonly masters: number;
  readonly idleMs: number;
}

export const replicas: Lane = {
  name: "replicas",
  what: "3 replicas behind a balancer without stickiness, on one Redis: replicas killed 20 times, Redis restarted 3 times and paused once",
  run: (settings) => runOn(settings, sizeOf(settings.scale, { seconds: 400, kills: 20, restarts: 3, masters: 1 })),
};

export const replicasOnCluster: Lane = {
  name: "replicas-cluster",
  what: "3 replicas behind a balancer without stickiness, on a Redis Cluster of 3 masters: replicas killed 8 times, each master restarted once, one paused",
  run: (settings) => runOn(settings, sizeOf(settings.scale, { seconds: 160, kills: 8, restarts: 3, masters: 3 })),
};

function sizeOf(scale: number, full: Omit<Size, "pauses" | "idleMs">): Size {
  return {
    seconds: Math.max(4, full.seconds * scale),
    kills: scaled(full.kills, scale),
    restarts: scaled(full.restarts, scale),
    pauses: scale < TINY ? 0 : 1,
    masters: full.masters,
    idleMs: scale < TINY ? TINY_IDLE_MS : scale < 0.5 ? SHORT_IDLE_MS : IDLE_MS,
  };
}

async function runOn(settings: LaneSettings, size: Size): Promise<LaneResult> {
  const { bundle } = settings;
  if (!hasRedis()) return WITHOUT_REDIS;
  const folder = mkdtempSync(join(tmpdir(), "parley-soak-replicas-"));
  const redis = await RedisServers.start(join(folder, "redis"), size.masters);
  const files = { lines: join(folder, "lines"), numbers: join(folder, "number"), stderr: join(folder, "stderr") };
  const replica = await bundle(new URL("../programs/replica.ts", import.meta.url));
  const set = new ReplicaSet(
    replica,
    { lines: files.lines, numbers: files.numbers, redis: redis.ports, idleMs: size.idleMs },
    files.stderr,
  );
  let balancer: Program<{ port: number }> | undefined;
  try {
    await set.start(REPLICAS);
    const program = await bundle(new URL("../programs/balancer.ts", import.meta.url));
    balancer = await startProgram<{ port: number }>(program, { ports: set.ports });
    return await trouble(settings, size, { redis, set, balancer, ...files });
  } finally {
    await set.close();
    await balancer?.stop();
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Parts {
  readonly redis: RedisServers;
  readonly set: ReplicaSet;
  readonly balancer: Program<{ port: number }>;
  readonly lines: string;
  readonly numbers: string;
  readonly stderr: string;
}

async function trouble({ say }: LaneSettings, size: Size, parts: Parts): Promise<LaneResult> {
  const { redis, set, balancer, lines, numbers, stderr } = parts;
  const ledger = new CallLedger();
  const crowd = new Crowd({ port: balancer.ready.port, principals: PRINCIPALS, ledger, replicas: set, numbers });
  let over = false;
  const running = crowd.run(() => !over);
  await strike(size, redis, set, say);
  // A while without faults, in which everything must work again.
  await rest(3_000);
  over = true;
  await running;
  await crowd.leave();
  const requests = await balancer.ask<number>("requests");
  const left = await keysLeft(redis, 3 * size.idleMs, say, OF_NODES);
  await set.close();
  // Those that were killed could not take back what says that they live.
  const leftAfterEnd = await keysLeft(redis, IDLE_MS, say);
  await balancer.stop();
  await redis.stop();
  const orphans = await orphansOf([...set.pids, ...redis.pids, balancer.pid]);
  const counts = ledger.count(readFileSync(lines, "utf8"), (pid) => set.killedAt(pid));
  return {
    size: {
      ...{ seconds: Math.round(size.seconds), replicas: REPLICAS, masters: size.masters, principals: PRINCIPALS },
      ...{ "calls made": counts.made, "requests through the balancer": requests },
    },
    measures: [
      exactly("replicas killed", set.killed, size.kills),
      exactly("restarts of Redis", redis.restarts, size.restarts),
      exactly("pauses of Redis", redis.pauses, size.pauses),
      ...callMeasures(counts),
      ...streamMeasures(crowd),
      exactly("keys left in Redis when all sessions are over", left.length, 0),
      exactly("keys left in Redis when all replicas are over", leftAfterEnd.length, 0),
      exactly("processes left", orphans.length, 0),
      exactly("warnings of the runtime", set.warnings.length, 0),
      exactly("errors that nobody caught", crashes(stderr).length, 0),
    ],
    notes: [
      ...crashes(stderr),
      "Each request goes to the next replica, also to one that is away: the balancer then answers 502, and sends nothing twice.",
      ...(crowd.official.length === 0 ? ["Without the official SDK's clients: `npm run peers` installs them."] : []),
      ...[...left, ...leftAfterEnd].slice(0, 5).map((key) => `Left: ${key}`),
      ...set.warnings.slice(0, 3),
      ...counts.problems,
    ],
  };
}

function callMeasures(counts: LedgerCounts): Measure[] {
  return [
    exactly("calls without an outcome", counts.open, 0),
    exactly("calls with two outcomes", counts.settledTwice, 0),
    exactly("answers that no run of their call gave", counts.wrong, 0),
    exactly("calls run more often than they may be", counts.repeated, 0),
    exactly("answers lost although their replica lived on", counts.lostAnswers, 0),
    exactly("steps of tasks done twice", counts.stepsTwice, 0),
    exactly("errors without a kind", counts.untyped, 0),
    exactly("secrets of others that somebody was told", counts.foreign, 0),
    exactly("answers to questions that went astray", counts.wrongWords, 0),
    told("count", "calls answered", counts.answered, ""),
    ...Object.entries(counts.refused).map(([kind, count]) => told("count", `calls ended by ${kind}`, count, "")),
  ];
}

function streamMeasures({ callers, watchers, resuming, intruder, ...crowd }: Crowd): Measure[] {
  const sum = <T>(list: readonly T[], read: (one: T) => number) => list.reduce((total, one) => total + read(one), 0);
  return [
    exactly(
      "events lost by those who resumed",
      sum(resuming, ({ lost }) => lost),
      0,
    ),
    exactly(
      "events repeated to those who resumed",
      sum(resuming, ({ repeated }) => repeated),
      0,
    ),
    exactly(
      "streams replayed differently",
      sum(resuming, (one) => one.replayedDifferently),
      0,
    ),
    exactly(
      "gaps in progress that clients were told",
      sum(callers, ({ gaps }) => gaps),
      0,
    ),
    exactly("changes that a subscriber did not hear of", crowd.missed, 0),
    exactly("uses of what belongs to others that were admitted", intruder.admitted, 0),
    told(
      "count",
      "events read by those who resumed",
      sum(resuming, ({ events }) => events),
      "",
    ),
    told(
      "count",
      "connections cut at a random byte",
      sum(resuming, ({ cuts }) => cuts),
      "",
    ),
    told(
      "count",
      "streams that could not be resumed and said so",
      sum(resuming, ({ announced }) => announced),
      "",
    ),
    told(
      "count",
      "streams read again from their beginning",
      sum(resuming, ({ replays }) => replays),
      "",
    ),
    told(
      "count",
      "of these, refused",
      sum(resuming, ({ replaysRefused }) => replaysRefused),
      "",
    ),
    told(
      "count",
      "questions answered",
      sum(callers, ({ questions }) => questions),
      "",
    ),
    told("count", "changes told to subscribers", crowd.changes, ""),
    told(
      "count",
      "subscriptions that ended and said so",
      sum(watchers, ({ ended }) => ended),
      "",
    ),
    told("count", "uses of what belongs to others that were tried", intruder.tries, ""),
    told("time", "longest time until a change was heard", crowd.slowestMs, "ms"),
  ];
}

/** All faults of the lane, spread over its time; one replica is away at a time, and Redis beside it. */
async function strike(size: Size, redis: RedisServers, set: ReplicaSet, say: (line: string) => void): Promise<void> {
  const random = seededRandom(7);
  const everyMs = (size.seconds * 1000) / (size.kills + 1);
  const killing = async () => {
    for (let kill = 0; kill < size.kills; kill++) {
      await rest(everyMs * (0.5 + random() / 2));
      await set.kill(Math.floor(random() * REPLICAS), 200 + 500 * random());
      say(`killed ${set.killed} replicas`);
    }
  };
  const restarting = async () => {
    const blows = size.restarts + size.pauses;
    for (let blow = 0; blow < blows; blow++) {
      await rest((size.seconds * 1000) / (blows + 1));
      const master = blow % size.masters;
      if (blow === 1 && size.pauses > 0) await redis.pause(master, 4_000);
      else await redis.restart(master, 300 + 1_000 * random());
      say(`restarted ${redis.restarts} Redis servers, paused ${redis.pauses}`);
    }
  };
  const since = performance.now();
  await Promise.all([killing(), restarting()]);
  await rest(Math.max(0, size.seconds * 1000 - (performance.now() - since)));
}

/** What replicas said about errors that would have ended them. */
function crashes(stderr: string): string[] {
  return readFileSync(stderr, "utf8")
    .split("\n")
    .filter((line) => /uncaught|unhandled/i.test(line));
}

/** What is still there after a while, when everything that belongs to somebody has been deleted or has expired. */
async function keysLeft(
  redis: RedisServers,
  forMs: number,
  say: (line: string) => void,
  without?: RegExp,
): Promise<string[]> {
  let keys: string[] = [];
  const none = async () => {
    keys = (await redis.keys()).filter((key) => without?.test(key) !== true);
    return keys.length === 0;
  };
  await waitFor(none, forMs, 500);
  say(`${keys.length} keys are left`);
  return keys;
}

/** What replicas keep about themselves as long as they run. */
const OF_NODES = /\/(task-)?nodes?\//;

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
