import type { Change } from "../client/changes/change-queue.js";
import type { SubscriptionTarget } from "../client/changes/subscription-filter.js";
import type { Client } from "../client/client.js";
import type { McpError } from "../protocol/error.js";
import type { HostCatalogue } from "./catalogue/host-catalogue.js";
import { fetchLists, LISTS_OF, type ServerLists } from "./catalogue/server-lists.js";
import { HealthCheck, type HealthStatus } from "./connection/health-check.js";
import type { RemoteConnection } from "./connection/remote-connection.js";
import { RemoteServer, type RemoteServerParts } from "./connection/remote-server.js";

type Kind = keyof typeof LISTS_OF;

const KINDS = Object.keys(LISTS_OF) as Kind[];

/** What a hosted server tells its host. */
export interface HostedServerEvents {
  /** Lists of the server are known anew. */
  listed(server: string, lists: Partial<ServerLists>): void;
  warn(message: string): void;
}

/** One server of a host, from its first connection to its last: what it lists, and whether it lives. */
export class HostedServer {
  readonly remote: RemoteServer;
  readonly #catalogue: HostCatalogue;
  readonly #events: HostedServerEvents;
  readonly #health: HealthCheck;
  /** Watched URIs, with who is told of their updates. */
  readonly #watched = new Map<string, Set<() => void>>();
  /** The connection that tells of changes. */
  #listening: RemoteConnection | undefined;

  constructor(parts: RemoteServerParts, catalogue: HostCatalogue, events: HostedServerEvents) {
    this.remote = new RemoteServer(parts);
    this.#catalogue = catalogue;
    this.#events = events;
    this.#health = new HealthCheck({
      platform: parts.platform,
      server: parts.name,
      ping: async (signal) => this.remote.client?.ping({ signal }),
      // The supervisor sees the end of the connection and opens another one.
      unhealthy: (reason) => this.#drop(reason),
    });
    this.remote.onAnswered = () => this.#health.answered();
  }

  get name(): string {
    return this.remote.name;
  }

  get health(): HealthStatus {
    return this.#health.status;
  }

  /** Opens a connection, and lists what the server offers if nobody does yet. */
  async start(signal: AbortSignal): Promise<RemoteConnection> {
    const connection = await this.remote.open(signal);
    try {
      if (this.#listening === undefined) await this.#listen(connection, signal);
    } catch (error) {
      await connection.close();
      throw error;
    }
    this.remote.adopt(connection);
    this.#health.start();
    return connection;
  }

  /** Fetches lists again, for servers that do not tell of changes. */
  async refresh(kinds: readonly Kind[] = KINDS, signal?: AbortSignal): Promise<void> {
    const client = this.remote.client;
    if (client === undefined) return;
    const options = signal === undefined ? {} : { signal };
    this.#publish(await fetchLists(client, kinds, options));
  }

  /** Tells of updates of a resource until the returned function is called. */
  watch(uri: string, updated: () => void): () => void {
    const known = this.#watched.get(uri) ?? new Set();
    known.add(updated);
    this.#watched.set(uri, known);
    const client = this.remote.client;
    const subscribed = known.size === 1 && client !== undefined ? this.#subscribe(client, uri) : undefined;
    return () => {
      known.delete(updated);
      if (known.size > 0) return;
      this.#watched.delete(uri);
      void subscribed?.then((subscription) => subscription?.close()).catch(() => {});
    };
  }

  async close(): Promise<void> {
    this.#health.stop();
    await this.remote.close();
  }

  async #listen(connection: RemoteConnection, signal: AbortSignal): Promise<void> {
    const { client } = connection;
    this.#listening = connection;
    void connection.ended().then(() => {
      if (this.#listening === connection) this.#listening = undefined;
    });
    const { tools, prompts, resources } = client.serverCapabilities;
    const target: SubscriptionTarget = {
      tools: tools?.listChanged === true,
      prompts: prompts?.listChanged === true,
      resourceList: resources?.listChanged === true,
    };
    // Before the lists are fetched, so that no change falls between the two.
    if (Object.values(target).includes(true)) {
      const changes = await client.subscribe(target, { signal });
      void this.#follow(client, changes);
    }
    this.#publish(await fetchLists(client, KINDS, { signal }));
    for (const uri of this.#watched.keys()) {
      void this.#subscribe(client, uri);
      this.#updated(uri);
    }
  }

  async #follow(client: Client, changes: AsyncIterable<Change, undefined>): Promise<void> {
    try {
      for await (const { kind } of changes) {
        if (kind !== "resource") this.#publish(await fetchLists(client, [kind], {}));
      }
    } catch {
      // The connection ended; the next one lists again.
    }
  }

  async #subscribe(client: Client, uri: string): ReturnType<Client["subscribe"]> {
    const subscription = await client.subscribe({ resources: uri });
    void (async () => {
      for await (const _change of subscription) this.#updated(uri);
    })().catch(() => {});
    return subscription;
  }

  #updated(uri: string): void {
    for (const tell of this.#watched.get(uri) ?? []) tell();
  }

  #publish(lists: Partial<ServerLists>): void {
    this.#catalogue.set(this.name, lists);
    this.#events.listed(this.name, lists);
  }

  #drop(reason: McpError): void {
    this.#events.warn(`the server "${this.name}" is restarted: ${reason.message}`);
    void this.remote.client?.close();
  }
}
