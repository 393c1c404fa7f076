import type { Client, ClientOptions } from "@parley/mcp";
import type { TargetInfo } from "../contract/connections.js";

/** Callbacks for events of a target that are not messages. */
export interface TargetHooks {
  /** Called for each line that the server process writes to stderr. */
  onStderr(line: string): void;
  /**
   * Called when the server was replaced by one that answers the handshake differently, such as with another name. The
   * inspector then opens the connection again.
   */
  onHandshakeChanged(): void;
}

/**
 * A server to inspect. Targets that run code come only from the command line or from the program that starts the
 * inspector, never from the page.
 */
export interface InspectorTarget {
  /** The kind of server. `file` is a recorded session, which has no server. */
  readonly kind: TargetInfo["kind"];
  /** The target as it would be written on a command line, without secrets. */
  readonly shown: string;
  /** Opens a connection with these options, and with the target's own options, such as headers. */
  open(options: ClientOptions, hooks: TargetHooks): Promise<Client>;
  /** The address of the server, used in copied `curl` commands and for logout. Only for targets of kind `url`. */
  readonly url?: string | undefined;
  /** The program and its arguments, used in copied code. Only for targets of kind `command`. */
  readonly command?: readonly string[] | undefined;
  /** Values that must never be shown, such as those of headers, query parameters and environment variables. */
  readonly secrets?: readonly string[] | undefined;
  /** True if the target has its own credentials. The inspector then starts no login. */
  readonly authorized?: boolean | undefined;
}
