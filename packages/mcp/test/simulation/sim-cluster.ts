import type { Server } from "../../src/server/server.js";
import { createMemoryStorage, type MemoryStorage } from "../../src/storage/memory.js";
import type { Storage } from "../../src/storage/storage.js";
import { channelTransport } from "../../src/transport/channel/client.js";
import { StreamChannel } from "../../src/transport/channel/stream-channel.js";
import { serveStream } from "../../src/transport/channel/stream-server.js";
import { createFetchCore, type FetchCore } from "../../src/transport/http/fetch-core.js";
import type { HttpServerOptions } from "../../src/transport/http/server/options.js";
import type { Endpoint, Peer, Transport } from "../../src/transport/transport.js";
import type { History } from "./history.js";
import type { Prng } from "./prng.js";
import { SimPipe, type Weather } from "./sim-pipe.js";
import { SimProcess } from "./sim-process.js";
import { makeServer, type ServerParts } from "./sim-server.js";
import { fullAtTimes, type StorageFaults, storageOf } from "./sim-storage.js";
import type { Credentials, FullStorage } from "./trials.js";
import { watchPipe } from "./watch-wire.js";
import type { World } from "./world.js";

/** How the servers of one run are set up. */
export interface ClusterPlan {
  nodes: number;
  /** Whether sessions and events outlive a process, or are shared between processes. */
  storage: "own" | "shared";
  /** Takes nothing while it is full; absent where there is always room. */
  fullness: FullStorage | undefined;
  credentials: Credentials;
  /** Whether a question comes before the handshake. */
  rude: boolean;
  /** Longest wait for a shared storage, in milliseconds. */
  storageMs: number;
  http: Pick<HttpServerOptions, "limits" | "times" | "eventLog">;
  /** Makes the server of each process, with the shared storage. Default: the one of `sim-server.ts`. */
  makeServer?: ((parts: ServerParts) => Server) | undefined;
  /** How long what a server has asked of its storage may outlast its end. Default: nothing may. */
  settleMs?: number | undefined;
  storageFaults?: StorageFaults | undefined;
  /** Gives each process its view of a storage, in place of `storage`. */
  makeStorage?: ((process: SimProcess, random: Prng) => Storage) | undefined;
  /** Sees what all processes do with the shared storage. */
  watchStorage?: ((shared: Storage) => Storage) | undefined;
}

/** How long a server may take to drain, and how long it then stays. */
const DRAIN_MS = 2_000;
const EXIT_MS = 60_000;
/** How long the end of a server waits for its storage. */
const CLOSE_MS = 1_100;

/** What nobody may answer: the client does not know yet who asks. */
const RUDE = JSON.stringify({
  jsonrpc: "2.0",
  id: "rude",
  method: "elicitation/create",
  params: { message: "rude", requestedSchema: { type: "object", properties: {} } },
});

interface Node {
  readonly process: SimProcess;
  readonly server: Server;
  readonly handler: FetchCore;
  readonly watches: Map<string, number>;
  readonly peers: Map<Peer, number>;
  readonly ends: (() => Promise<void>)[];
  readonly drains: (() => Promise<void>)[];
}

/** All server processes of one run; any of them may be killed and started again. */
export class SimCluster {
  readonly nodes: (Node | undefined)[] = [];
  readonly pipes = new Set<SimPipe>();
  /** How often a server was killed. */
  crashes = 0;
  readonly #world: World;
  readonly #history: History;
  readonly #plan: ClusterPlan;
  readonly #weather: Weather;
  readonly #random: Prng;
  /** What the processes share, without delays and faults. */
  readonly memory: MemoryStorage;
  readonly #shared: Storage;
  #starts = 0;
  #connections = 0;

  constructor(world: World, history: History, plan: ClusterPlan, weather: Weather) {
    this.#world = world;
    this.#history = history;
    this.#plan = plan;
    this.#weather = weather;
    this.#random = world.random.fork("cluster");
    this.memory = createMemoryStorage({ clock: world });
    this.#shared = plan.watchStorage?.(this.memory) ?? this.memory;
    for (let index = 0; index < plan.nodes; index++) this.start(index);
  }

  /** True when no message is lost by design: one node hears all, and its log is long enough. */
  get keepsAll(): boolean {
    return (
      this.#plan.nodes === 1 && this.#plan.fullness === undefined && this.#plan.http.eventLog?.maxEvents === undefined
    );
  }

  start(index: number): void {
    if (this.nodes[index] !== undefined) return;
    const world = this.#world;
    const process = new SimProcess(world, `server ${index}.${++this.#starts}`);
    const { storageMs, http, credentials } = this.#plan;
    const storage = this.#storageOf(process, storageMs);
    const watches = new Map<string, number>();
    const peers = new Map<Peer, number>();
    const make = this.#plan.makeServer;
    const server = (make ?? makeServer)({
      world,
      history: this.#history,
      process,
      storage: this.#plan.nodes > 1 || make !== undefined ? storage : undefined,
      watched: (uri, by) => void watches.set(uri, (watches.get(uri) ?? 0) + by),
    });
    const endpoint = { ...watchedEndpoint(world, server.endpoint(), peers), storage };
    // Without the part that loads its code: that takes real time, which has no place in a simulated world.
    const options: HttpServerOptions = {
      ...http,
      authenticate(request) {
        const key = request.header("authorization")?.replace(/^Bearer /, "");
        if (key === undefined || credentials.expired(key)) return { status: 401 };
        return {
          key,
          expiresAt: credentials.endOf(key),
          claims: { carrier: `http ${request.header("x-sim-exchange")}` },
        };
      },
    };
    const handler = createFetchCore(endpoint, options, process.platform);
    world.note(`${process.name} starts`);
    this.nodes[index] = { process, server, handler, watches, peers, ends: [], drains: [] };
  }

  #storageOf(process: SimProcess, storageMs: number): Storage | undefined {
    const { storage, fullness, makeStorage } = this.#plan;
    const world = this.#world;
    if (makeStorage !== undefined) return makeStorage(process, this.#random.fork(process.name));
    if (storage === "shared") {
      const shared = fullness === undefined ? this.#shared : fullAtTimes(this.#shared, fullness);
      return storageOf(world, process, shared, this.#random.fork(process.name), storageMs, this.#plan.storageFaults);
    }
    return fullness === undefined ? undefined : fullAtTimes(createMemoryStorage({ clock: world }), fullness);
  }

  crash(index: number): void {
    const node = this.nodes[index];
    if (node === undefined) return;
    this.#world.note(`${node.process.name} is killed`);
    this.nodes[index] = undefined;
    this.crashes++;
    node.process.kill();
  }

  /** Stops a server in the middle of whatever it does; it goes on later and does not know that it stood still. */
  pause(index: number, ms: number): void {
    const process = this.nodes[index]?.process;
    if (process === undefined || process.pausedSince(this.#world.now())) return;
    this.#world.note(`${process.name} stands still`);
    process.pause();
    this.#world.after(ms, `${process.name} may go on`, () => process.resume());
  }

  /** Ends one server in good order, as a deployment does: what runs may finish, at most for a while. */
  async retire(index: number): Promise<void> {
    const node = this.nodes[index];
    if (node === undefined) return;
    this.#world.note(`${node.process.name} retires`);
    this.nodes[index] = undefined;
    const from = this.#world.now();
    await Promise.all([node.handler.drain(DRAIN_MS), ...node.drains.map((drain) => drain())]);
    await endNode(node);
    const { settleMs = this.#plan.storage === "shared" ? CLOSE_MS : undefined } = this.#plan;
    if (settleMs === undefined) this.#history.afterStep(() => this.#check(node));
    else this.#world.after(settleMs, `nothing is left of ${node.process.name}`, () => this.#check(node));
    this.#world.note(`${node.process.name} has retired`);
    // Its application may go on; nothing of it reaches anybody. What was written before takes its time on the way.
    this.#world.after(EXIT_MS, `${node.process.name} exits`, () => {
      this.#history.drained(node.process, from, from + DRAIN_MS - 1);
      node.process.kill();
    });
  }

  /** Any server that runs, as a balancer would choose. */
  pick(): Node | undefined {
    const running = this.nodes.filter((node) => node !== undefined);
    return running[this.#random.int(0, running.length - 1)];
  }

  /** A new connection of a client; to nowhere when no server runs. */
  pipeTo(client: SimProcess, name: string): Transport {
    const node = this.pick();
    const id = `pipe ${++this.#connections}`;
    const far = node?.process ?? new SimProcess(this.#world, "nowhere");
    const pipe = new SimPipe(this.#world, id, client, far, this.#weather, this.#random);
    this.pipes.add(pipe);
    if (node === undefined || this.#plan.credentials.expired(name)) pipe.near.broken();
    else this.#serve(node, pipe, id, name);
    return channelTransport(new StreamChannel(pipe.near, { platform: client.platform }), id);
  }

  #serve(node: Node, pipe: SimPipe, id: string, name: string): void {
    const { credentials, rude } = this.#plan;
    watchPipe(this.#world, this.#history, pipe, { id, client: name, credentials });
    const endpoint = watchedEndpoint(this.#world, node.server.endpoint(), node.peers, rude ? RUDE : undefined);
    const served = serveStream(endpoint, pipe.far, {
      platform: node.process.platform,
      principal: { key: name, expiresAt: credentials.endOf(name), claims: { carrier: id } },
      maxQueuedBytes: 256 * 1024,
      holdInputAbove: 4 * 1024,
    });
    node.ends.push(() => served.close());
    node.drains.push(() => served.drain());
    pipe.far.onClosed = () => this.#history.carrierGone(id, false);
  }

  /** Ends all servers in good order. */
  async close(): Promise<void> {
    for (const node of this.nodes) if (node !== undefined) await endNode(node);
  }

  checkLeft(): void {
    for (const node of this.nodes) if (node !== undefined) this.#check(node);
  }

  /** I8, I13: nothing is left of a server that has ended. */
  #check({ process: { name, timers }, watches, peers }: Node): void {
    if (timers > 0) this.#world.violate("I8", `${name} has ${timers} timers after its end`);
    for (const [uri, count] of watches) {
      if (count !== 0) this.#world.violate("I8", `${name} watches ${uri} ${count} times after its end`);
    }
    for (const count of peers.values()) {
      if (count !== 0) this.#world.violate("I13", `${name} was not told the end of a peer`);
    }
  }

  heal(): void {
    for (let index = 0; index < this.#plan.nodes; index++) this.start(index);
    for (const node of this.nodes) node?.process.resume();
    for (const pipe of this.pipes) if (pipe.near.deaf && pipe.open) pipe.cut();
    this.#weather.stall = 0;
  }
}

async function endNode(node: Node): Promise<void> {
  node.handler.close();
  await Promise.all(node.ends.map((end) => end()));
  await node.server.close();
}

/** I13: each peer is opened and closed in turn. */
function watchedEndpoint(world: World, inner: Endpoint, peers: Map<Peer, number>, greeting?: string): Endpoint {
  const count = (peer: Peer, by: 1 | -1) => {
    const now = (peers.get(peer) ?? 0) + by;
    peers.set(peer, now);
    if (now !== 0 && now !== 1) world.violate("I13", `a peer was ${by === 1 ? "opened" : "closed"} twice`);
  };
  return {
    accept: (message, http) => inner.accept(message, http),
    request: (accepted, exchange) => inner.request(accepted, exchange),
    notification: (message, peer) => inner.notification(message, peer),
    opened(peer) {
      count(peer, 1);
      inner.opened(peer);
      if (greeting !== undefined) peer.send(greeting);
    },
    closed(peer) {
      count(peer, -1);
      inner.closed(peer);
    },
  };
}
