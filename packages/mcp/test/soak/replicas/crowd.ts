import { renameSync, writeFileSync } from "node:fs";
import { peersInstalled } from "../../mounts/peer-packages.js";
import { seededRandom } from "../seeded-random.js";
import { waitFor } from "../wait-for.js";
import type { CallLedger } from "./call-ledger.js";
import { Intruder } from "./intruder.js";
import { NumberWatcher } from "./number-watcher.js";
import { OfficialCaller } from "./official-caller.js";
import { ParleyCaller } from "./parley-caller.js";
import type { ReplicaSet } from "./replica-set.js";
import { ResumingCaller } from "./resuming-caller.js";

export interface CrowdPlan {
  readonly port: number;
  readonly principals: number;
  readonly ledger: CallLedger;
  readonly replicas: ReplicaSet;
  /** The beginning of the names of the files that hold the numbers. */
  readonly numbers: string;
}

const IN_FLIGHT = 2;
/** Until then a change has reached everybody who is subscribed: a client that meets dead replicas waits longer before each attempt. */
const HEARD_MS = 60_000;
const REVISIONS = ["2025-11-25", "2026-07-28"] as const;

/** Everybody who uses the replicas: each principal has applications of both eras, watchers, and one whose connections break. */
export class Crowd {
  readonly callers: ParleyCaller[] = [];
  readonly watchers: NumberWatcher[] = [];
  readonly resuming: ResumingCaller[] = [];
  readonly official: OfficialCaller[] = [];
  readonly intruder: Intruder;
  changes = 0;
  /** Changes that a subscriber did not hear of in time. */
  missed = 0;
  slowestMs = 0;
  readonly #plan: CrowdPlan;

  constructor(plan: CrowdPlan) {
    this.#plan = plan;
    const { port, principals, ledger } = plan;
    const url = `http://127.0.0.1:${port}/mcp`;
    for (let at = 0; at < principals; at++) {
      const principal = `p${at}`;
      const random = seededRandom(100 + at);
      for (const revision of REVISIONS) {
        this.callers.push(new ParleyCaller({ url, principal, revision, ledger, random }));
        this.watchers.push(new NumberWatcher({ url, principal, revision, ledger }));
      }
      this.resuming.push(new ResumingCaller({ port, principal, ledger, random }));
      const version = at % 2 === 0 ? 1 : 2;
      if (peersInstalled) this.official.push(new OfficialCaller({ url, principal, version, ledger, random }));
      this.#write(principal, 0);
    }
    this.intruder = new Intruder({ url, principal: "intruder", ledger, known: () => this.#known() });
  }

  /** Ends when `goesOn` does not hold any more and every call has come to its end. */
  async run(goesOn: () => boolean): Promise<void> {
    for (const watcher of this.watchers) void watcher.run();
    const principals = new Set(this.watchers.map(({ principal }) => principal));
    await Promise.all([
      ...this.callers.map((caller) => caller.run(goesOn, IN_FLIGHT)),
      ...this.resuming.map((caller) => caller.run(goesOn)),
      ...this.official.map((caller) => caller.run(goesOn)),
      ...[...principals].map((principal) => this.#change(principal, goesOn)),
      this.intruder.run(goesOn),
    ]);
  }

  async leave(): Promise<void> {
    const everybody = [...this.callers, ...this.watchers, ...this.resuming, ...this.official, this.intruder];
    await Promise.all(everybody.map((one) => one.leave()));
  }

  /** Counts up, and waits until all who are subscribed have read the number, before it counts on. */
  async #change(principal: string, goesOn: () => boolean): Promise<void> {
    const watchers = this.watchers.filter((watcher) => watcher.principal === principal);
    await waitFor(() => watchers.every(({ subscribed }) => subscribed), HEARD_MS);
    for (let number = 1; goesOn(); number++) {
      this.#write(principal, number);
      if (!(await this.#plan.replicas.tell(principal, number))) continue;
      const since = performance.now();
      this.changes++;
      const late = () => watchers.filter((watcher) => watcher.subscribed && watcher.number < number);
      if (await waitFor(() => late().length === 0, HEARD_MS)) {
        this.slowestMs = Math.max(this.slowestMs, performance.now() - since);
      } else {
        this.missed += late().length;
        for (const { name } of late()) this.#plan.ledger.problem(`${name} did not hear of change ${number}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }

  #write(principal: string, number: number): void {
    const file = `${this.#plan.numbers}-${principal}`;
    writeFileSync(`${file}.new`, String(number));
    renameSync(`${file}.new`, file);
  }

  #known() {
    const sessions = this.resuming.flatMap(({ session, lastId }) =>
      session === undefined ? [] : [{ id: session, lastId }],
    );
    return { sessions, tasks: this.callers.flatMap(({ lastTask }) => lastTask ?? []) };
  }
}
