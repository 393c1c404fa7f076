import type { Client, Server } from "@parley/mcp";
import type { ClientOptions } from "../../../src/client/contract/options.js";

/** A way to reach a scenario's server. */
export interface TransportUnderTest {
  readonly name: string;
  /** Serves a fresh server; `file` names the scenario for transports that start it in another process. */
  serve(server: () => Server<unknown, unknown, unknown>, file: string): Promise<Served>;
}

/** A served scenario. */
export interface Served {
  connect(options: ClientOptions): Promise<Client<unknown>>;
  close(): Promise<void>;
}
