import { type Client, connect } from "@parley/mcp";
import { Host } from "@parley/mcp/host";
import { type ListeningHandle, serveHttp } from "@parley/mcp/node";
import { Callers } from "./callers.js";
import { Ledger } from "./ledger.js";
import { RecoveryTimes } from "./recovery-times.js";
import {
  httpVictim,
  pidsOf,
  portVictim,
  processVictim,
  type RunFolder,
  runFolder,
  type Victim,
  workerVictim,
} from "./victims.js";

/** How a run is made. */
export interface ChaosOptions {
  /** A folder of its own for this run. */
  readonly folder: string;
  /** Arguments for Node that start a server on pipes; the folder and the name follow. */
  readonly program: readonly string[];
  /** How many servers of each kind there are. */
  readonly each: number;
  /** How many callers call through the host, and as many through each client of the gateway. */
  readonly callers: number;
  readonly restMs: number;
  readonly random: () => number;
  /** The module of tools that run in processes of their own; without one there is no server with such tools. */
  readonly workers?: URL;
}

/** Short, so that a run sees many restarts: by default a host waits for seconds and holds a server that ends too often. */
const RESTARTS = {
  intensity: { restarts: 1_000_000, withinMs: 60_000 },
  backOff: { firstMs: 20, longestMs: 200, jitter: 0.2 },
};
/** What a caller waits for an answer at most; far more than anything takes. */
const CALL_MS = 60_000;
/** A part of the blows meets servers that are not ready: during their start, their handshake or their first lists. */
const ANY_STATE = 0.2;

/** A host whose servers are struck down while callers go on calling. */
export class ChaosRun {
  readonly host: Host;
  readonly ledger: Ledger;
  readonly times = new RecoveryTimes();
  strikes = 0;
  restarts = 0;
  /** Answers that belong to no call, as the clients of the gateway saw them. */
  strays = 0;
  readonly #options: ChaosOptions;
  readonly #folder: RunFolder;
  readonly #victims: readonly Victim[];
  #callers: Callers | undefined;
  readonly #clients: Client[] = [];
  /** When servers were struck that have not answered since. */
  readonly #struck = new Map<string, number>();
  #gateway: ListeningHandle | undefined;

  private constructor(options: ChaosOptions, victims: readonly Victim[]) {
    this.#options = options;
    this.#folder = runFolder(options.folder);
    this.#victims = victims;
    this.ledger = new Ledger(this.#folder.runs);
    this.host = new Host({
      servers: Object.fromEntries(victims.map(({ name, entry }) => [name, entry])),
      restarts: RESTARTS,
      // What is counted is what becomes of calls that are sent, so none is refused beforehand.
      circuit: false,
      startWaitMs: CALL_MS,
      waitMs: CALL_MS / 2,
    });
    this.host.on("supervision", ({ step }) => {
      if (step.type === "child" && step.to === "running" && step.restarts > 0) this.restarts++;
    });
  }

  /** Starts the host and everything around it; nothing is called or struck yet. */
  static async start(options: ChaosOptions): Promise<ChaosRun> {
    const run = new ChaosRun(options, await victimsOf(options));
    try {
      await run.#start();
    } catch (error) {
      await run.close();
      throw error;
    }
    return run;
  }

  /** Lets the callers begin: through the host, and through its gateway in memory and over HTTP, in both eras. */
  call(): void {
    const { random, restMs } = this.#options;
    const servers = this.#victims.map(({ name }) => name);
    const timeouts = { totalMs: CALL_MS };
    this.#callers = new Callers({
      ledger: this.ledger,
      servers,
      random,
      restMs,
      answered: (server, begunAt) => this.#answered(server, begunAt),
    });
    for (const client of this.#clients) {
      this.#addCallers((name, args) => client.callTool(name, args, { timeouts }));
    }
    this.#addCallers((name, args) => this.host.callTool(name, args, { timeouts }));
  }

  /** Strikes one of the servers, if there is something to strike. */
  strike(): void {
    const { random } = this.#options;
    const victim = this.#victims[Math.floor(random() * this.#victims.length)];
    if (victim === undefined) return;
    const isReady = this.host.status()[victim.name]?.state === "ready";
    if (!isReady && random() >= ANY_STATE) return;
    if (!victim.strike()) return;
    this.strikes++;
    this.#struck.set(victim.name, performance.now());
  }

  /** Ends the load; resolves when every call has its outcome. */
  async rest(): Promise<void> {
    await this.#callers?.stop();
  }

  /** Resolves when all servers are ready. */
  async recovered(): Promise<void> {
    // A server over HTTP has no other way to notice that its session is gone.
    const ping = async (name: string) => {
      await this.host
        .client(name)
        ?.ping()
        .catch(() => {});
      await this.host.ready(name);
    };
    await Promise.all(this.#victims.map(({ name }) => ping(name)));
  }

  /** Ends everything that was started. */
  async close(): Promise<void> {
    await this.rest();
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.#gateway?.close();
    await this.host.close();
    await Promise.all(this.#victims.map((victim) => victim.close()));
  }

  /** Every process that a server of this run ever was or started. */
  pids(): number[] {
    return this.#victims.flatMap(({ name }) => pidsOf(this.#folder, name));
  }

  async #start(): Promise<void> {
    const gateway = this.host.asServer();
    await this.host.start();
    this.#gateway = await serveHttp(gateway, { port: 0 });
    const { url } = this.#gateway;
    for (const target of [gateway, url]) {
      for (const revision of ["2025-11-25", "2026-07-28"] as const) {
        const client = await connect(target, { revisions: [revision] });
        client.on("unknown", () => this.strays++);
        this.#clients.push(client);
      }
    }
  }

  #addCallers(call: Parameters<Callers["add"]>[0]): void {
    for (let count = 0; count < this.#options.callers; count++) this.#callers?.add(call);
  }

  /** Only a call that began after the blow shows that the server is back. */
  #answered(server: string, begunAt: number): void {
    const since = this.#struck.get(server);
    if (since === undefined || begunAt < since) return;
    this.#struck.delete(server);
    this.times.add(performance.now() - since);
  }
}

async function victimsOf({ folder, program, each, workers }: ChaosOptions): Promise<Victim[]> {
  const files = runFolder(folder);
  const victims: Victim[] = [];
  for (let at = 1; at <= each; at++) {
    // One of the processes has a process of its own.
    victims.push(processVictim(files, at === 1 ? "parent" : `process${at}`, program));
    victims.push(portVictim(files, `port${at}`));
    victims.push(await httpVictim(files, `http${at}`));
  }
  if (workers !== undefined) victims.push(workerVictim(files, "worker", workers));
  return victims;
}
