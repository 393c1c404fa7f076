import type { RestartPolicy, SupervisionStrategy } from "@parley/mcp/supervision";

/** A child as the model sees it: its starts and stops take no time. */
export interface ModelChild {
  readonly id: string;
  readonly policy: RestartPolicy;
  readonly retryMs: number | undefined;
  state: "waiting" | "running" | "stopped" | "ended" | "failed";
  failures: number;
  since: number;
  /** How many of the next starts fail. */
  failing: number;
  /** Its own restarts, for an isolated one. */
  readonly restarts: number[];
  timer: ModelTimer | undefined;
}

interface ModelTimer {
  readonly at: number;
  readonly set: number;
}

export interface ModelRules {
  readonly strategy: SupervisionStrategy;
  readonly restarts: number;
  readonly withinMs: number;
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The rules of supervision once more, written for one turn at a time: no promise, no clock but a number. */
export class SupervisionModel {
  readonly rules: ModelRules;
  readonly log: string[] = [];
  children: ModelChild[] = [];
  now = 0;
  ended = false;
  /** When the group is started again. */
  group: ModelTimer | undefined;
  readonly #restarts: number[] = [];
  #set = 0;

  constructor(rules: ModelRules) {
    this.rules = rules;
  }

  add(id: string, policy: RestartPolicy, retryMs: number | undefined, failing: number): void {
    const base = { id, policy, retryMs, failing, failures: 0, since: 0, restarts: [], timer: undefined };
    const child: ModelChild = { ...base, state: "waiting" };
    this.children.push(child);
    if (this.group === undefined || retryMs !== undefined) this.#start(child);
  }

  ends(child: ModelChild, normal: boolean): void {
    this.#failed(child, normal, this.now - child.since);
  }

  stop(child: ModelChild): void {
    this.#halt(child, "stopped");
    if (child.policy === "temporary") this.#forget(child);
  }

  remove(child: ModelChild): void {
    this.#halt(child, "stopped");
    this.#forget(child);
  }

  /** Not called while a group waits, unless the child is alone. */
  restart(child: ModelChild): void {
    if (child.state === "running") this.log.push(`-${child.id}`);
    this.#start(child);
  }

  isAlone(child: ModelChild): boolean {
    return child.retryMs !== undefined || this.rules.strategy === "one_for_one";
  }

  close(): void {
    if (this.ended) return;
    this.ended = true;
    this.group = undefined;
    for (const child of [...this.children].reverse()) this.#halt(child, "stopped");
  }

  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const due = [this.group, ...this.children.map(({ timer }) => timer)]
        .filter((timer): timer is ModelTimer => timer !== undefined && timer.at <= end)
        .sort((a, b) => a.at - b.at || a.set - b.set)[0];
      if (due === undefined) break;
      this.now = due.at;
      if (due === this.group) this.#startGroup();
      else for (const child of this.children) if (child.timer === due) this.#start(child);
    }
    this.now = end;
  }

  #start(child: ModelChild): void {
    child.timer = undefined;
    if (child.failing > 0) {
      child.failing--;
      this.log.push(`!${child.id}`);
      this.#failed(child, false, 0);
      return;
    }
    this.log.push(`+${child.id}`);
    child.state = "running";
    child.since = this.now;
  }

  #startGroup(): void {
    const mine = { at: this.now, set: ++this.#set };
    this.group = mine;
    for (const child of [...this.children]) {
      // A failed start has made another group of it.
      if (this.group !== mine) return;
      if (child.state === "waiting" && child.timer === undefined) this.#start(child);
    }
    if (this.group === mine) this.group = undefined;
  }

  #failed(child: ModelChild, normal: boolean, ranMs: number): void {
    const rests = child.policy === "temporary" || (child.policy === "transient" && normal);
    if (rests) {
      child.state = "ended";
      if (child.policy === "temporary") this.#forget(child);
      return;
    }
    const times = child.retryMs === undefined ? this.#restarts : child.restarts;
    const recent = times.filter((time) => time > this.now - this.rules.withinMs).length;
    if (ranMs >= this.rules.longestMs) child.failures = 0;
    if (recent >= this.rules.restarts) {
      child.state = "failed";
      if (child.retryMs === undefined) this.close();
      else child.timer = this.#timer(child.retryMs);
      return;
    }
    times.push(this.now);
    child.state = "waiting";
    const delay = Math.min(this.rules.longestMs, this.rules.firstMs * 2 ** child.failures++);
    if (this.isAlone(child)) child.timer = this.#timer(delay);
    else this.#takeDown(child, delay);
  }

  #takeDown(child: ModelChild, delay: number): void {
    const first = this.rules.strategy === "one_for_all" ? 0 : this.children.indexOf(child);
    for (const other of this.children.slice(first).reverse()) {
      if (other.state === "running") {
        this.#halt(other, "waiting");
        if (other.policy === "temporary") this.#forget(other);
      } else if (other.state === "waiting") other.timer = undefined;
    }
    this.group = this.#timer(delay);
  }

  #halt(child: ModelChild, then: "stopped" | "waiting"): void {
    if (child.state === "running") this.log.push(`-${child.id}`);
    if (child.state !== "ended") child.state = then;
    child.timer = undefined;
  }

  #forget(child: ModelChild): void {
    this.children = this.children.filter((other) => other !== child);
  }

  #timer(ms: number): ModelTimer {
    return { at: this.now + ms, set: ++this.#set };
  }
}
