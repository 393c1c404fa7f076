import type { Client } from "@parley/mcp";
import type { InspectedExtensions } from "../connections/inspected-extensions.js";
import type { ConnectionInfo } from "../contract/connections.js";

/** The part of a connection that calls need. */
export interface CallableConnection {
  readonly id: string;
  /** Throws an `McpError` while the connection is not open. */
  readonly client: Client;
  /** The extensions that the client was opened with. */
  readonly extensions: InspectedExtensions;
  readonly info: Pick<ConnectionInfo, "lists" | "era">;
}

/** Finds a connection by its id. Throws `invalid_params` for an unknown id. */
export interface ConnectionFinder {
  get(id: string): CallableConnection;
}
