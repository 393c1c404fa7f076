import { type Client, type ClientOptions, connect } from "@parley/mcp";
import type { Binding } from "@parley/mcp/registry";
import { ModuleGraph } from "../modules/module-graph.js";
import { ReloadingModule } from "../run/reloading-module.js";
import { loadServerModule } from "../target/load-module.js";
import { withLoadTimeout } from "../target/open-module.js";
import { Terminal } from "../terminal/terminal.js";

/**
 * The module of a target. The first connection loads it, further connections share its server, and the last one closes
 * it. Meanwhile the server is replaced when the module's files change.
 */
export class InspectedModule {
  readonly #path: string;
  readonly #terminal: Terminal;
  readonly #debug: boolean;
  #loaded: Promise<ReloadingModule> | undefined;
  #users = 0;

  constructor(path: string, { io }: Terminal, debug: boolean) {
    this.#path = path;
    // Reports failures of reloads to stderr even with `--json`, because stdout has only the address.
    this.#terminal = new Terminal(io);
    this.#debug = debug;
  }

  /**
   * Connects to the module's server. Calls `onHandshakeChanged` when a new version of the server has another name,
   * other capabilities or other instructions, because clients receive these only when they connect.
   */
  async open(options: ClientOptions, onHandshakeChanged: () => void): Promise<Client> {
    const leave = this.#enter();
    let binding: Binding | undefined;
    let stop = () => {};
    const end = () => {
      stop();
      binding?.unbind();
      leave();
    };
    const { signal = this.#terminal.io.signal, timeouts } = options;
    try {
      const module = await withLoadTimeout(this.#load(), this.#path, signal, timeouts?.connectMs);
      binding = module.bind();
      const client = await connect(binding, options);
      stop = module.onReplaced(async () => {
        const isSame = await hasSameHandshake(client, module);
        if (!isSame && client.state === "ready") onHandshakeChanged();
      });
      client.on("state", ({ state }) => {
        if (state === "closed") end();
      });
      return client;
    } catch (reason) {
      end();
      throw reason;
    }
  }

  #load(): Promise<ReloadingModule> {
    this.#loaded ??= (async () => {
      const graph = new ModuleGraph(this.#path);
      const server = await loadServerModule(this.#path, graph);
      return new ReloadingModule(this.#path, graph, server, this.#terminal, this.#debug);
    })();
    return this.#loaded;
  }

  /** Counts a user. Returns a function that, for the last user, closes the module, even if it is still loading. */
  #enter(): () => void {
    this.#users++;
    return () => {
      this.#users--;
      if (this.#users > 0) return;
      void this.#loaded?.then(
        (module) => module.close(),
        () => {},
      );
      this.#loaded = undefined;
    };
  }
}

/** True if the server that the module has now would answer the client's handshake as before. */
async function hasSameHandshake(client: Client, module: ReloadingModule): Promise<boolean> {
  using binding = module.bind();
  try {
    await using other = await connect(binding, { revisions: [client.protocolVersion], onWarning: () => {} });
    return handshakeOf(client) === handshakeOf(other);
  } catch {
    return false;
  }
}

function handshakeOf({ serverInfo, serverCapabilities, instructions }: Client): string {
  return JSON.stringify([serverInfo, serverCapabilities, instructions]);
}
