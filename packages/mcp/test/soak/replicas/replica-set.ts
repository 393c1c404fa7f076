import { closeSync, openSync } from "node:fs";
import { freePort } from "../../free-port.js";
import { type Program, startProgram } from "../program.js";
import type { ReplicaSettings } from "../programs/replica.js";

/** The replicas of a lane, each at a port that it gets again when it is started anew. */
export class ReplicaSet {
  readonly #file: string;
  readonly #settings: Omit<ReplicaSettings, "port">;
  readonly #stderr: number;
  readonly #replicas: (Program<unknown> | undefined)[] = [];
  readonly #killedAt = new Map<number, number>();
  readonly ports: number[] = [];
  readonly pids: number[] = [];
  readonly warnings: string[] = [];
  killed = 0;
  #closed = false;

  /** `stderr` is the file that takes what replicas say to their operators. */
  constructor(file: string, settings: Omit<ReplicaSettings, "port">, stderr: string) {
    this.#stderr = openSync(stderr, "a");
    this.#file = file;
    this.#settings = settings;
  }

  async start(count: number): Promise<void> {
    for (let at = 0; at < count; at++) {
      this.ports.push(await freePort());
      await this.#startAt(at);
    }
  }

  /** When the process was killed, if it was. */
  killedAt(pid: number): number | undefined {
    return this.#killedAt.get(pid);
  }

  /** Kills one replica, as a crash of its machine would, and starts it anew after a while. */
  async kill(at: number, awayMs: number): Promise<void> {
    const replica = this.#replicas[at];
    if (replica === undefined) return;
    this.#replicas[at] = undefined;
    this.#killedAt.set(replica.pid, Date.now());
    await replica.kill();
    this.killed++;
    await new Promise((resolve) => setTimeout(resolve, awayMs));
    await this.#startAt(at);
  }

  /** Lets one replica that runs tell that the number of a principal has changed; false where it died meanwhile. */
  async tell(principal: string, at: number): Promise<boolean> {
    const replica = this.#replicas[at % this.#replicas.length];
    if (replica === undefined) return false;
    return replica.ask("changed", principal).then(
      () => true,
      () => false,
    );
  }

  /** Ends all in good order, and keeps their warnings. */
  async close(): Promise<void> {
    for (const [at, replica] of this.#replicas.entries()) {
      if (replica === undefined) continue;
      this.warnings.push(...(await replica.ask<string[]>("warnings").catch(() => [])));
      await replica.ask("close").catch(() => {});
      await replica.stop();
      this.#replicas[at] = undefined;
    }
    if (!this.#closed) closeSync(this.#stderr);
    this.#closed = true;
  }

  async #startAt(at: number): Promise<void> {
    const settings: ReplicaSettings = { ...this.#settings, port: this.ports[at] ?? 0 };
    const replica = await startProgram(this.#file, settings, { stderr: this.#stderr });
    this.pids.push(replica.pid);
    this.#replicas[at] = replica;
  }
}
