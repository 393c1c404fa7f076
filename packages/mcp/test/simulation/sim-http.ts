import type { Fetch } from "../../src/platform/platform.js";
import type { FetchCore } from "../../src/transport/http/fetch-core.js";
import type { Prng } from "./prng.js";
import { SimExchange } from "./sim-exchange.js";
import type { Weather } from "./sim-pipe.js";
import type { SimProcess } from "./sim-process.js";
import type { World } from "./world.js";

/** A running HTTP server. */
export interface HttpNode {
  readonly process: SimProcess;
  readonly handler: FetchCore;
}

/** What may happen to an HTTP request, each as a share of all requests. */
export interface HttpFaults {
  /** No connection comes about. */
  refuse: number;
  /** The connection breaks before the server has the request. */
  loseRequest: number;
  /** The server has handled it, but no answer comes. */
  loseAnswer: number;
  /** The answer breaks off at a random byte. */
  cut: number;
  /** Nothing is heard any more, and nobody is told. */
  silence: number;
}

/** Hears of every request and of every event of its answer. */
export interface HttpWatcher {
  sent(exchange: SimExchange): void;
  /** Nothing more will reach the client. */
  broken(exchange: SimExchange): void;
  /** The server was told that the client is gone. */
  left(exchange: SimExchange): void;
  /** One event, or the whole body, as the server wrote it. */
  said(exchange: SimExchange, text: string, stream: boolean): void;
}

/** The network between clients and HTTP servers. */
export class SimHttp {
  readonly weather: Weather;
  readonly faults: HttpFaults;
  readonly random: Prng;
  readonly world: World;
  readonly watcher: HttpWatcher;
  readonly open = new Set<SimExchange>();
  #count = 0;

  constructor(world: World, weather: Weather, faults: HttpFaults, watcher: HttpWatcher) {
    this.world = world;
    this.weather = weather;
    this.faults = faults;
    this.watcher = watcher;
    this.random = world.random.fork("http");
  }

  /** The `fetch` of one client; `pick` chooses the node that a new request goes to. */
  fetchOf(client: string, pick: () => HttpNode | undefined): Fetch {
    return (url, init) => {
      const exchange = new SimExchange(this, ++this.#count, client, url, init ?? {});
      this.open.add(exchange);
      this.watcher.sent(exchange);
      return exchange.start(pick);
    };
  }

  delay(): number {
    const { latency, jitter, stall, stallMs } = this.weather;
    return latency + this.random.next() * jitter + (this.random.chance(stall) ? stallMs : 0);
  }

  /** Ends all bad luck; what is silent breaks. */
  heal(): void {
    for (const name of Object.keys(this.faults) as (keyof HttpFaults)[]) this.faults[name] = 0;
    this.weather.stall = 0;
    for (const exchange of this.open) if (exchange.silent) exchange.break();
  }
}
