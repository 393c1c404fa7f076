import type { Client, ClientOptions } from "@parley/mcp";
import type { Redactor } from "@parley/mcp/recording";
import type { ConnectionInfo } from "../contract/connections.js";

/** A connection as far as those need it who keep its messages. */
export interface KeptConnection {
  readonly id: string;
  readonly info: ConnectionInfo;
  /** Values of headers and variables, which are written nowhere. */
  readonly target: { readonly secrets?: readonly string[] | undefined };
  /** Takes the secrets of its target out. */
  readonly redactor: Redactor;
  /** Opens a further client for the same target, whose messages are not in the timeline. */
  openAnother(options: ClientOptions): Promise<Client>;
}

/** All connections. */
export interface KeptConnections {
  /** Throws `invalid_params` where there is none of this id. */
  get(id: string): KeptConnection;
  all(): readonly KeptConnection[];
}
