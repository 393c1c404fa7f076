import { getEventListeners } from "node:events";
import type { Subscription } from "../../src/client/changes/subscriptions.js";
import type { Client } from "../../src/client/client.js";
import type { CallOptions, ClientOptions, ResendPolicy } from "../../src/client/contract/options.js";
import { openClient } from "../../src/client/open-client.js";
import { McpError } from "../../src/protocol/error.js";
import type { Revision } from "../../src/protocol/revisions.js";
import type { History } from "./history.js";
import type { Prng } from "./prng.js";
import type { SimCluster } from "./sim-cluster.js";
import type { SimHttp } from "./sim-http.js";
import { SimProcess } from "./sim-process.js";
import type { Credentials } from "./trials.js";
import type { World } from "./world.js";

/** How one client connects. */
export interface ClientPlan {
  name: string;
  by: "pipe" | "http";
  revisions: readonly Revision[] | undefined;
  timeouts: { connectMs: number; idleMs: number; totalMs: number };
  resend: ResendPolicy;
  answers: boolean;
  /** Whether nothing may keep the result of this tool from the client. */
  mustWork(tool: string): boolean;
  /** Whether progress of this tool may be lost. */
  mayMiss(tool: string): boolean;
}

/** What a client needs of the run. */
export interface Surroundings {
  world: World;
  history: History;
  cluster: SimCluster;
  http: SimHttp;
  credentials: Credentials;
  /** An address that no other run uses, because the library remembers what it learnt of addresses. */
  url: string;
}

interface Watch {
  uri: string;
  subscription: Subscription;
  heard: number;
  over: boolean;
}

/** Time that ending a connection may take beyond a deadline. */
const CLOSE_MS = 4_500;

/** One application with one client, which does what its plan says. */
export class SimClient {
  readonly plan: ClientPlan;
  readonly process: SimProcess;
  readonly random: Prng;
  readonly watches: Watch[] = [];
  client: Client | undefined;
  connecting = false;
  closed = false;
  readonly #run: Surroundings;
  readonly #states: string[] = [];
  #nonces = 0;
  /** The last number heard of each server process, and whether some may have been lost since. */
  readonly #numbers = new Map<string, { last: number; mayGap: boolean }>();

  constructor(run: Surroundings, plan: ClientPlan) {
    this.#run = run;
    this.plan = plan;
    this.process = new SimProcess(run.world, plan.name);
    this.random = run.world.random.fork(`client ${plan.name}`);
  }

  get usable(): boolean {
    return this.client !== undefined && !this.closed && !this.#run.credentials.expired(this.plan.name);
  }

  /** Connects, some times if need be. I1: each attempt ends in time. */
  async connect(attempts: number): Promise<void> {
    const { world } = this.#run;
    this.connecting = true;
    for (let attempt = 1; attempt <= attempts && this.client === undefined; attempt++) {
      const done = this.#mustEnd("connect", this.plan.timeouts.connectMs + CLOSE_MS);
      try {
        this.client = await this.#open();
        this.#listen(this.client);
        world.note(`${this.plan.name} is connected by ${this.client.protocolVersion}`);
      } catch (error) {
        this.#expectTyped("connect", error);
        world.note(`${this.plan.name} could not connect: ${kindOf(error)}`);
        done();
        await this.process.sleep(this.random.int(100, 5_000));
      }
      done();
    }
    this.connecting = false;
  }

  /** Calls a tool; the history judges how it ends. */
  call(tool: string, given: { steps?: number; gap?: number; cancelAfter?: number; options?: CallOptions } = {}): void {
    const { client } = this;
    if (client === undefined || this.closed) return;
    const { world, history } = this.#run;
    const nonce = `${this.plan.name}#${++this.#nonces}`;
    const options: CallOptions = { ...given.options };
    const resend = options.resend ?? this.plan.resend;
    const { idleMs = this.plan.timeouts.idleMs, totalMs = this.plan.timeouts.totalMs } = options.timeouts ?? {};
    const record = history.begin({
      nonce,
      client: this.plan.name,
      tool,
      deadline: world.now() + totalMs + 2,
      patientUntil: world.now() + Math.min(idleMs, totalMs) - 2,
      mustWork: this.plan.mustWork(tool),
      mayMiss: this.plan.mayMiss(tool),
      mayRepeat: ["echo", "ask", "charge"].includes(tool) || resend === "always",
    });
    options.onProgress = ({ progress, message }) => history.progress(record, progress, message);
    const signal = given.cancelAfter === undefined ? undefined : this.#cancelLater(given.cancelAfter);
    if (signal !== undefined) options.signal = signal;
    const { steps, gap } = given;
    const args = { nonce, ...(steps === undefined ? {} : { steps }), ...(gap === undefined ? {} : { gap }) };
    client
      .call(tool, args, options)
      .then(
        (value) => history.settle(record, { value }),
        (error) => {
          this.#expectTyped(nonce, error);
          history.settle(record, { error: kindOf(error) });
        },
      )
      .then(() => {
        if (signal !== undefined) this.#expectNoListeners(nonce, signal);
      });
  }

  /** Lists, reads, or asks for signs of life; only that it ends in time is judged. */
  async ask(what: "tools" | "read" | "ping"): Promise<void> {
    const { client } = this;
    if (client === undefined || this.closed) return;
    // `ping` waits for a connection first, and then has its own deadline.
    const done = this.#mustEnd(what, this.plan.timeouts.totalMs + (what === "ping" ? RECOVERY_MS : 2));
    try {
      if (what === "tools") await client.listTools();
      else if (what === "ping") await client.ping();
      else {
        const { contents } = await client.readResource(`mem://${this.plan.name}/x`);
        const text = (contents[0] as { text?: string } | undefined)?.text;
        if (text !== `${this.plan.name} x`) this.#run.world.violate("I2", `reading gave ${text}`);
      }
    } catch (error) {
      this.#expectTyped(what, error);
    }
    done();
  }

  async subscribe(): Promise<void> {
    const { client } = this;
    if (client === undefined || this.closed) return;
    const uri = `mem://${this.plan.name}/${this.watches.length}`;
    const done = this.#mustEnd("subscribe", RECOVERY_MS);
    try {
      const subscription = await client.subscribe(uri);
      const watch: Watch = { uri, subscription, heard: 0, over: false };
      this.watches.push(watch);
      void this.#follow(watch);
    } catch (error) {
      this.#expectTyped("subscribe", error);
      this.#run.world.note(`${this.plan.name} could not subscribe: ${kindOf(error)}`);
    }
    done();
  }

  /** I8: after `close` the client has no timer and tells nothing; I13: it is closed once. */
  async close(): Promise<void> {
    if (this.client === undefined || this.closed) return;
    this.closed = true;
    const { world } = this.#run;
    const done = this.#mustEnd("close", CLOSE_MS);
    await this.client.close();
    done();
    world.note(`${this.plan.name} is closed`);
    const ends = this.#states.filter((state) => state === "closed").length;
    if (ends !== 1) world.violate("I13", `${this.plan.name} was told ${ends} times that it is closed`);
    this.#run.history.afterStep(() => {
      const { timers } = this.process;
      if (timers > 0) world.violate("I8", `${this.plan.name} has ${timers} timers after its end`);
      const pending = this.#run.history.pendingOf(this.plan.name);
      if (pending.length > 0) world.violate("I3", `${pending.join(" ")} did not end with the client`);
      for (const { uri, over } of this.watches) if (!over) world.violate("I8", `the iterator of ${uri} did not end`);
    });
  }

  async #open(): Promise<Client> {
    // Not by `connect`, whose loading of the client would be an event outside the simulation.
    return (await this.#openUntyped()) as Client;
  }

  #openUntyped(): Promise<Client<unknown>> {
    const { cluster, http, url } = this.#run;
    const { name, by, revisions, timeouts, resend, answers } = this.plan;
    const options: ClientOptions = {
      platform: this.process.platform,
      timeouts,
      resend,
      ...(revisions === undefined ? {} : { revisions }),
      ...(answers ? { onElicit: (question) => this.#answer(question) } : {}),
    };
    if (by === "pipe") return openClient({ makeTransport: () => cluster.pipeTo(this.process, name) }, options);
    const headers = { authorization: `Bearer ${name}` };
    const fetch = http.fetchOf(name, () => cluster.pick());
    return openClient(url, {
      ...options,
      headers,
      fetch: (address, init) => {
        // A stream that is opened without a place to go on from begins anew.
        if (init?.method === "GET" && !new Headers(init.headers).has("last-event-id")) this.#mayHaveMissed();
        return fetch(address, init);
      },
    });
  }

  async #answer({
    message,
  }: {
    message: string;
  }): Promise<{ action: "accept"; content: { word: string } } | { action: "decline" }> {
    if (!message.startsWith(`${this.plan.name}#`)) {
      this.#run.world.violate("I5", `${this.plan.name} was asked "${message}"`);
    }
    if (this.closed) this.#run.world.violate("I3", `${this.plan.name} was asked after its end`);
    await this.process.sleep(this.random.int(0, 3_000));
    return this.random.chance(0.1) ? { action: "decline" } : { action: "accept", content: { word: message } };
  }

  #listen(client: Client): void {
    const { world } = this.#run;
    client.on("state", ({ state }) => {
      this.#states.push(state);
      if (state === "recovering") this.#mayHaveMissed();
      world.note(`${this.plan.name} is ${state}`);
    });
    client.on("notifications/message", ({ data }) => {
      const { owner, from, number } = data as { owner?: string; from?: string; number?: number };
      if (this.closed) world.violate("I3", `${this.plan.name} was told something after its end`);
      if (owner !== undefined && !owner.startsWith(`${this.plan.name}#`)) {
        world.violate("I5", `${this.plan.name} was told what belongs to ${owner}`);
      }
      if (from !== undefined && number !== undefined) this.#numbered(from, number);
    });
    client.on("session.recovered", () => this.#mayHaveMissed());
  }

  /** I6: what was said to all comes once, in order and without a gap, over however many connections of one session. */
  #numbered(from: string, number: number): void {
    const known = this.#numbers.get(from);
    this.#numbers.set(from, { last: number, mayGap: false });
    if (known === undefined) return;
    const { world, cluster } = this.#run;
    if (number <= known.last) world.violate("I6", `${this.plan.name} heard message ${number} again`);
    if (number > known.last + 1 && !known.mayGap && cluster.keepsAll) {
      world.violate("I6", `${this.plan.name} heard message ${number} after ${known.last}`);
    }
  }

  #mayHaveMissed(): void {
    for (const known of this.#numbers.values()) known.mayGap = true;
  }

  async #follow(watch: Watch): Promise<void> {
    const { world } = this.#run;
    try {
      for await (const change of watch.subscription) {
        watch.heard++;
        if (change.kind !== "resource" || change.uri !== watch.uri) {
          world.violate("I5", `${watch.uri} of ${this.plan.name} was told of ${change.uri}`);
        }
      }
    } catch (error) {
      this.#expectTyped("subscription", error);
      world.note(`the subscription of ${watch.uri} ends: ${kindOf(error)}`);
    }
    watch.over = true;
  }

  #cancelLater(ms: number): AbortSignal {
    const controller = new AbortController();
    this.#run.world.after(ms, `${this.plan.name} cancels`, () => controller.abort(new Error("changed my mind")));
    return controller.signal;
  }

  #expectNoListeners(nonce: string, signal: AbortSignal): void {
    const left = getEventListeners(signal, "abort").length;
    if (left > 0) this.#run.world.violate("I8", `${nonce} left ${left} listeners on its caller's signal`);
  }

  #expectTyped(what: string, error: unknown): void {
    if (!McpError.is(error))
      this.#run.world.violate("typed", `${what} of ${this.plan.name} failed with ${String(error)}`);
  }

  #mustEnd(what: string, ms: number): () => void {
    const { world } = this.#run;
    const late = world.after(ms + 2, `${what} is late`, () => {
      world.violate("I1", `${what} of ${this.plan.name} did not end within ${ms} ms`);
    });
    return () => world.cancel(late);
  }
}

/** Eight attempts to open a connection, and the waits between them. */
const RECOVERY_MS = 15 * 60_000;

function kindOf(error: unknown): string {
  return McpError.is(error) ? error.kind : "untyped";
}
