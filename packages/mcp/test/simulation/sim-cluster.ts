import type { Server } from "../../src/server/server.js";
import { createMemoryStorage } from "../../src/storage/memory.js";
import type { Storage } from "../../src/storage/storage.js";
import { channelTransport } from "../../src/transport/channel/client.js";
import { StreamChannel } from "../../src/transport/channel/stream-channel.js";
import { serveStream } from "../../src/transport/channel/stream-server.js";
import { createFetchCore, type FetchCore } from "../../src/transport/http/server/fetch-core.js";
import type { HttpServerOptions } from "../../src/transport/http/server/options.js";
import type { Endpoint, Peer, Transport } from "../../src/transport/transport.js";
import type { History } from "./history.js";
import type { Prng } from "./prng.js";
import { SimPipe, type Weather } from "./sim-pipe.js";
import { SimProcess } from "./sim-process.js";
import { makeServer } from "./sim-server.js";
import { storageOf } from "./sim-storage.js";
import { watchPipe } from "./watch-wire.js";
import type { World } from "./world.js";

/** How the servers of one run are set up. */
export interface ClusterPlan {
  nodes: number;
  /** Whether sessions and events outlive a process, or are shared between processes. */
  storage: "own" | "shared";
  /** Longest wait for a shared storage, in milliseconds. */
  storageMs: number;
  http: Pick<HttpServerOptions, "limits" | "times" | "eventLog">;
}

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
  readonly #shared: Storage;
  #starts = 0;
  #connections = 0;

  constructor(world: World, history: History, plan: ClusterPlan, weather: Weather) {
    this.#world = world;
    this.#history = history;
    this.#plan = plan;
    this.#weather = weather;
    this.#random = world.random.fork("cluster");
    this.#shared = createMemoryStorage({ clock: world });
    for (let index = 0; index < plan.nodes; index++) this.start(index);
  }

  /** True when no message is lost by design: one node hears all, and its log is long enough. */
  get keepsAll(): boolean {
    return this.#plan.nodes === 1 && this.#plan.http.eventLog?.maxEvents === undefined;
  }

  start(index: number): void {
    if (this.nodes[index] !== undefined) return;
    const world = this.#world;
    const process = new SimProcess(world, `server ${index}.${++this.#starts}`);
    const { storage: kind, storageMs, http } = this.#plan;
    const storage =
      kind === "own" ? undefined : storageOf(world, process, this.#shared, this.#random.fork(process.name), storageMs);
    const watches = new Map<string, number>();
    const peers = new Map<Peer, number>();
    const server = makeServer({
      world,
      history: this.#history,
      process,
      storage: this.#plan.nodes > 1 ? storage : undefined,
      watched: (uri, by) => void watches.set(uri, (watches.get(uri) ?? 0) + by),
    });
    const endpoint = { ...watchedEndpoint(world, server.endpoint(), peers), storage };
    // Without the part that loads its code: that takes real time, which has no place in a simulated world.
    const options: HttpServerOptions = {
      ...http,
      authenticate(request) {
        const key = request.header("authorization")?.replace(/^Bearer /, "");
        if (key === undefined) return { status: 401 };
        return { key, claims: { carrier: `http ${request.header("x-sim-exchange")}` } };
      },
    };
    const handler = createFetchCore(endpoint, options, process.platform);
    world.note(`${process.name} starts`);
    this.nodes[index] = { process, server, handler, watches, peers, ends: [], drains: [] };
  }

  crash(index: number): void {
    const node = this.nodes[index];
    if (node === undefined) return;
    this.#world.note(`${node.process.name} is killed`);
    this.nodes[index] = undefined;
    this.crashes++;
    node.process.kill();
  }

  /** Ends one server in good order, as a deployment does: what runs may finish, at most for a while. */
  async retire(index: number): Promise<void> {
    const node = this.nodes[index];
    if (node === undefined) return;
    this.#world.note(`${node.process.name} retires`);
    this.nodes[index] = undefined;
    await Promise.all([node.handler.drain(2_000), ...node.drains.map((drain) => drain())]);
    await endNode(node);
    this.#history.afterStep(() => this.#check(node));
    this.#world.note(`${node.process.name} has retired`);
    // Its application may go on; nothing of it reaches anybody.
    this.#world.after(1, `${node.process.name} exits`, () => node.process.kill());
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
    if (node === undefined) pipe.near.broken();
    else this.#serve(node, pipe, id, name);
    return channelTransport(new StreamChannel(pipe.near, { platform: client.platform }), id);
  }

  #serve(node: Node, pipe: SimPipe, id: string, name: string): void {
    watchPipe(this.#world, this.#history, pipe, id);
    const served = serveStream(watchedEndpoint(this.#world, node.server.endpoint(), node.peers), pipe.far, {
      platform: node.process.platform,
      principal: { key: name, claims: { carrier: id } },
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
function watchedEndpoint(world: World, inner: Endpoint, peers: Map<Peer, number>): Endpoint {
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
    },
    closed(peer) {
      count(peer, -1);
      inner.closed(peer);
    },
  };
}
