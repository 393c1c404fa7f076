import type { Client, ClientOptions } from "@parley/mcp";
import type { Redactor } from "@parley/mcp/recording";
import type { ConnectionInfo } from "../contract/connections.js";

/** The part of a connection that the session actions need. */
export interface SessionConnection {
  readonly id: string;
  readonly info: ConnectionInfo;
  /**
   * The secrets of the target, such as values of headers and environment variables. They must not be written anywhere.
   */
  readonly target: { readonly secrets?: readonly string[] | undefined };
  /** Redacts the secrets of the target. */
  readonly redactor: Redactor;
  /** Opens another client for the same target. The messages of this client are not in the timeline. */
  openAnother(options: ClientOptions): Promise<Client>;
}

/** The connections of the inspector. */
export interface SessionConnections {
  /** Returns a connection. Throws `invalid_params` for an unknown id. */
  get(id: string): SessionConnection;
  all(): readonly SessionConnection[];
}
