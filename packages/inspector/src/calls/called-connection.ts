import type { Client } from "@parley/mcp";
import type { InspectedExtensions } from "../connections/inspected-extensions.js";
import type { ConnectionInfo } from "../contract/connections.js";

/** A connection as far as those need it who ask something of its server. */
export interface CalledConnection {
  readonly id: string;
  /** Throws an `McpError` while the connection does not stand. */
  readonly client: Client;
  /** What the client was opened with. */
  readonly extensions: InspectedExtensions;
  readonly info: Pick<ConnectionInfo, "lists" | "era">;
}

/** Finds a connection by its id. Throws `invalid_params` where there is none. */
export interface ConnectionFinder {
  get(id: string): CalledConnection;
}
