import { OFFER_CAPABILITIES, type OfferCapability } from "../../protocol/features/offer-kinds.js";
import type { Tool } from "../../protocol/features/tools.js";
import type { ServerCall } from "../../server/call/server-call.js";
import type { HostCatalogue } from "../catalogue/host-catalogue.js";
import { announcedLists, fetchLists } from "../catalogue/server-lists.js";
import type { FilteredTools } from "../catalogue/tool-filter.js";
import type { RemoteConnection } from "../connection/remote-connection.js";
import type { RemoteServer } from "../connection/remote-server.js";
import { answerOutside, askableOf, callerOf } from "./pass-on.js";
import type { ShownTools } from "./remote-offer.js";

/** The offers of one server over a connection that one client has for itself. */
export interface OfferView extends ShownTools {
  readonly catalogue: HostCatalogue;
}

/** Where clients' own views come from. */
interface ViewSource {
  readonly catalogue: HostCatalogue;
  /** The tools of a server as clients may see them. */
  filtered(server: string, tools: readonly Tool[]): FilteredTools;
  /** Called when a list has changed at one of the connections. */
  changed(list: OfferCapability): void;
}

/** What clients see of servers at which each has a connection of its own: what the server lists there. */
export class ClientViews {
  readonly #source: ViewSource;
  readonly #known = new WeakMap<RemoteConnection, Promise<OfferView>>();

  constructor(source: ViewSource) {
    this.#source = source;
  }

  /** What the caller sees of one of them. */
  async of(server: RemoteServer, call: ServerCall): Promise<OfferView> {
    const askable = askableOf(call, server.parts.options.extensions);
    answerOutside(server, call);
    const connection = await server.connection(askable, callerOf(call), call.exchange.signal);
    let known = this.#known.get(connection);
    if (known === undefined) {
      known = this.#fetched(server.name, connection);
      this.#known.set(connection, known);
      known.catch(() => this.#known.delete(connection));
    }
    return known;
  }

  async #fetched(server: string, connection: RemoteConnection): Promise<OfferView> {
    const { client } = connection;
    const catalogue = this.#source.catalogue.alone(server);
    await this.#listen(connection);
    const lists = await fetchLists(client, OFFER_CAPABILITIES, {});
    const filtered = this.#source.filtered(server, lists.tools ?? []);
    catalogue.set(server, { ...lists, tools: filtered.tools });
    return { catalogue, tools: filtered };
  }

  /** Lists again after a change, when somebody wants to know. */
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
    // The connection ended, and its lists with it.
    follow().catch(() => {});
  }
}
