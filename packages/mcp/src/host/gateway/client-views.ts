import type { Tool } from "../../protocol/features/tools.js";
import type { ServerCall } from "../../server/call/server-call.js";
import { CHANGING_LISTS, type ListName } from "../../server/changes/change.js";
import type { HostCatalogue } from "../catalogue/host-catalogue.js";
import { announcedLists, fetchLists } from "../catalogue/server-lists.js";
import type { FilteredTools } from "../catalogue/tool-filter.js";
import type { RemoteConnection } from "../connection/remote-connection.js";
import type { RemoteServer } from "../connection/remote-server.js";
import { askableOf } from "./askable.js";
import { clientConnection } from "./client-connection.js";
import type { OfferView } from "./find-target.js";

/** Where clients' own views come from. */
interface ViewSource {
  readonly catalogue: HostCatalogue;
  server(name: string): RemoteServer | undefined;
  /** The tools of a server as clients may see them. */
  filtered?(server: string, tools: readonly Tool[]): FilteredTools;
}

/** What clients see of servers at which each has a connection of its own: what the server lists there. */
export class ClientViews {
  readonly #source: ViewSource;
  readonly #changed: (list: ListName) => void;
  readonly #known = new WeakMap<RemoteConnection, Promise<OfferView>>();

  constructor(source: ViewSource, changed: (list: ListName) => void) {
    this.#source = source;
    this.#changed = changed;
  }

  /** The servers at which each client has its own connection. */
  servers(): RemoteServer[] {
    const all = [...this.#source.catalogue.servers()].map((name) => this.#source.server(name));
    return all.filter((server) => server?.parts.isolation === "client") as RemoteServer[];
  }

  /** What the caller sees of one of them. */
  async of(server: RemoteServer, call: ServerCall): Promise<OfferView> {
    const askable = askableOf(call, server.parts.options.extensions);
    const connection = await clientConnection(server, call, askable);
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
    const lists = await fetchLists(client, CHANGING_LISTS, {});
    const filtered = this.#source.filtered?.(server, lists.tools ?? []);
    catalogue.set(server, { ...lists, ...(filtered === undefined ? {} : { tools: filtered.tools }) });
    return {
      catalogue,
      toolCall(outer, args) {
        const found = catalogue.find("tools", outer);
        if (found === undefined) return undefined;
        // Safe: whatever else it is, the server refuses it.
        const given = args as Record<string, unknown> | undefined;
        const inner = filtered?.innerCall(found.inner, given) ?? { name: found.inner, args: given };
        const params = inner.args === undefined ? { name: inner.name } : { name: inner.name, arguments: inner.args };
        return { server, params };
      },
    };
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
        if (kind !== "resource") this.#changed(kind);
      }
    };
    // The connection ended, and its lists with it.
    follow().catch(() => {});
  }
}
