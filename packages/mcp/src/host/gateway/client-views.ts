import { OFFER_CAPABILITIES, type OfferCapability } from "../../protocol/features/offer-kinds.js";
import type { Tool } from "../../protocol/features/tools.js";
import type { ServerCall } from "../../server/call/server-call.js";
import type { HostCatalogue } from "../catalogue/host-catalogue.js";
import { announcedLists, fetchLists } from "../catalogue/server-lists.js";
import type { FilteredTools } from "../catalogue/tool-filter.js";
import type { RemoteConnection } from "../connection/remote-connection.js";
import type { RemoteServer } from "../connection/remote-server.js";
import { answerOutsideCalls, askableOf, callerOf } from "./forward-request.js";
import type { ShownTools } from "./remote-offer.js";

/** The offers of one server, as one client sees them over its own connection. */
export interface OfferView extends ShownTools {
  readonly catalogue: HostCatalogue;
}

/** The part of a gateway that the views of clients use. */
interface ViewSource {
  readonly catalogue: HostCatalogue;
  /** Filters the tools of a server for clients. */
  filter(server: string, tools: readonly Tool[]): FilteredTools;
  /** Called when a list has changed on one of the connections. */
  changed(list: OfferCapability): void;
}

/**
 * The views of clients for servers with a separate connection for each client: the lists that the server returns over
 * that connection.
 */
export class ClientViews {
  readonly #source: ViewSource;
  readonly #known = new WeakMap<RemoteConnection, Promise<OfferView>>();

  constructor(source: ViewSource) {
    this.#source = source;
  }

  /** Returns the caller's view of a server. Opens a connection and fetches the lists if necessary. */
  async get(server: RemoteServer, call: ServerCall): Promise<OfferView> {
    const askable = askableOf(call, server.config.options.extensions);
    answerOutsideCalls(server, call);
    const connection = await server.connection(askable, callerOf(call), call.exchange.signal);
    let known = this.#known.get(connection);
    if (known === undefined) {
      known = this.#fetchView(server.name, connection);
      this.#known.set(connection, known);
      known.catch(() => this.#known.delete(connection));
    }
    return known;
  }

  async #fetchView(server: string, connection: RemoteConnection): Promise<OfferView> {
    const { client } = connection;
    const catalogue = this.#source.catalogue.alone(server);
    await this.#listen(connection);
    const lists = await fetchLists(client, OFFER_CAPABILITIES, {});
    const filtered = this.#source.filter(server, lists.tools ?? []);
    catalogue.set(server, { ...lists, tools: filtered.tools });
    return { catalogue, tools: filtered };
  }

  /** Subscribes to changes. A change drops the view, and the next request fetches the lists again. */
  async #listen(connection: RemoteConnection): Promise<void> {
    const { client } = connection;
    const target = announcedLists(client.serverCapabilities);
    if (target === undefined) return;
    const changes = await client.subscribe(target);
    const follow = async () => {
      for await (const { kind } of changes) {
        this.#known.delete(connection);
        if (kind !== "resource") this.#source.changed(kind);
      }
    };
    // An error means that the connection has ended. Its view is then no longer used.
    follow().catch(() => {});
  }
}
