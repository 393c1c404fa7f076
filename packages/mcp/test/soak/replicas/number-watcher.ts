import { type Client, connect, type Revision } from "@parley/mcp";
import type { CallLedger } from "./call-ledger.js";

export interface WatcherPlan {
  readonly url: string;
  readonly principal: string;
  readonly revision: Revision;
  readonly ledger: CallLedger;
}

const REST_MS = 300;

/** Subscribes to the numbered resource of a principal, and reads it whenever it is told of a change, as an application would. */
export class NumberWatcher {
  readonly #plan: WatcherPlan;
  #client: Client | undefined;
  #stopped = false;
  /** The newest number that it has read. */
  number = 0;
  /** Whether a subscription is acknowledged and has not ended. */
  subscribed = false;
  /** Subscriptions whose end it was told. */
  ended = 0;
  told = 0;

  constructor(plan: WatcherPlan) {
    this.#plan = plan;
  }

  get principal(): string {
    return this.#plan.principal;
  }

  get name(): string {
    return `the watcher of ${this.#plan.principal} by ${this.#plan.revision}`;
  }

  async run(): Promise<void> {
    const uri = `number://${this.#plan.principal}`;
    while (!this.#stopped) {
      try {
        this.#client ??= await this.#connect();
        const subscription = await this.#client.subscribe(uri);
        this.subscribed = true;
        await this.#read(this.#client, uri);
        for await (const _ of subscription) {
          this.told++;
          await this.#read(this.#client, uri);
        }
        if (!this.#stopped) this.ended++;
      } catch {
        this.ended++;
      }
      this.subscribed = false;
      if (!this.#stopped) await new Promise((resolve) => setTimeout(resolve, REST_MS));
    }
  }

  async leave(): Promise<void> {
    this.#stopped = true;
    await this.#client?.close().catch(() => {});
  }

  async #connect(): Promise<Client> {
    const { url, principal, revision } = this.#plan;
    const headers = { authorization: `Bearer ${principal}` };
    // Without a cache, because a replica that was away could not tell that a kept number is old.
    return (await connect(url, { revisions: [revision], headers, cache: false, onWarning() {} })) as Client;
  }

  /** A refused read is tried again: the change was told, and only the reading failed. */
  async #read(client: Client, uri: string): Promise<void> {
    while (!this.#stopped) {
      try {
        const { contents } = await client.readResource(uri);
        const [first] = contents;
        const text = first !== undefined && "text" in first ? String(first.text) : "";
        this.#plan.ledger.told(this.#plan.principal, text);
        this.number = Math.max(this.number, Number(text.split(" ")[0]));
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, REST_MS));
      }
    }
  }
}
