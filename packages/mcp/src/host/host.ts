import { platform as runtimePlatform } from "#platform";
import type { LocalServer, Target } from "../client/connect.js";
import type { ClientOptions } from "../client/options.js";
import { isObject } from "../jsonrpc/message.js";
import { replacedPlatform } from "../platform/replaced-platform.js";
import type { ServerInfo, ServerOptions } from "../server/options.js";
import { Server } from "../server/server.js";
import { partsOf } from "../server/server-parts.js";
import { HostCatalogue } from "./catalogue/host-catalogue.js";
import { ANY_QUESTION } from "./gateway/askable.js";
import { RemoteOffers } from "./gateway/remote-offers.js";
import { HostedServer } from "./hosted-server.js";

export interface HostOptions {
  servers: Readonly<
    Record<string, { target: Target | LocalServer; prefix?: string | false; isolation?: "shared" | "client" }>
  >;
  client?: ClientOptions;
}

export class Host {
  readonly catalogue = new HostCatalogue();
  readonly #servers = new Map<string, HostedServer>();
  readonly #gateways = new Set<Server>();

  constructor({ servers, client = {} }: HostOptions) {
    const platform = replacedPlatform(runtimePlatform, client.platform);
    for (const [name, { target, prefix, isolation = "shared" }] of Object.entries(servers)) {
      this.catalogue.add(name, prefix);
      const startsAnew = isObject(target) && "command" in target;
      const hosted = new HostedServer(
        {
          name,
          target,
          options: client,
          platform,
          limits: {},
          connections: 1,
          startsAnew,
          isolation,
          asked: startsAnew ? ANY_QUESTION : undefined,
          trusted: false,
          waitMs: 10_000,
        },
        this.catalogue,
        { listed: (_server, lists) => this.#listed(lists), warn: (message) => platform.warn(message) },
      );
      this.#servers.set(name, hosted);
    }
  }

  async start(): Promise<void> {
    const signal = new AbortController().signal;
    await Promise.all([...this.#servers.values()].map((server) => server.start(signal)));
  }

  asServer(info: ServerInfo = { name: "parley-gateway", version: "0.1.0" }, options: ServerOptions = {}): Server {
    const server = new Server(info, options);
    const parts = partsOf(server);
    parts.registry.addFeature(
      new RemoteOffers(parts, {
        catalogue: this.catalogue,
        server: (name) => this.#servers.get(name)?.remote,
        toolCall: (outer, args) => {
          const found = this.catalogue.find("tools", outer);
          return (
            found && {
              server: found.server,
              params: { name: found.inner, ...(args === undefined ? {} : { arguments: args }) },
            }
          );
        },
        watch: (name, uri, updated) => this.#servers.get(name)?.watch(uri, updated) ?? (() => {}),
      }),
    );
    this.#gateways.add(server);
    return server;
  }

  #listed(lists: object): void {
    for (const gateway of this.#gateways) {
      if ("tools" in lists) gateway.listChanged("tools");
      if ("prompts" in lists) gateway.listChanged("prompts");
      if ("resources" in lists) gateway.listChanged("resources");
    }
  }

  async close(): Promise<void> {
    for (const server of this.#servers.values()) {
      await server.remote.client?.close();
      await server.close();
    }
  }
}
