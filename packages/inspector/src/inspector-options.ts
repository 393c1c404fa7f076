import type { TokenStore } from "@parley/mcp/auth";
import type { CreateMessageRequestParams, CreateMessageResult, Revision } from "@parley/mcp/protocol";
import type { InspectorTarget } from "./connections/inspector-target.js";

/** Options of `startInspector`. */
export interface InspectorOptions {
  /**
   * Servers that the page can connect to besides addresses that the user enters. The inspector connects to each of them
   * on start. Default: none.
   */
  targets?: readonly InspectorTarget[] | undefined;
  /** The port on this machine. Default: 0, which picks a free port. */
  port?: number | undefined;
  /**
   * The revision for the connections to `targets`. The user can choose another revision in the page. Default: the
   * revision is negotiated.
   */
  revision?: Revision | undefined;
  /**
   * Time within which a server must complete the handshake, in milliseconds. The time of a login does not count.
   * Default: 30 s.
   */
  connectMs?: number | undefined;
  /**
   * Loads the function that counts the tokens of a text. Called when the page first shows tools as models receive them.
   * Default: the tokens are estimated from the length of the text.
   */
  loadTokenizer?: (() => Promise<(text: string) => number>) | undefined;
  /**
   * Drafts the answer to a sampling request when the user requests a draft. The user reviews the draft before it is
   * sent. Default: the user writes the answer.
   */
  model?: ((params: CreateMessageRequestParams, signal: AbortSignal) => Promise<CreateMessageResult>) | undefined;
  /** Stores the tokens of logins. Default: in memory, until the inspector closes. */
  tokens?: TokenStore | undefined;
}

/** A running inspector. */
export interface Inspector {
  /**
   * The address to open in a browser. The address contains the access token, so anyone who knows it can use the
   * inspector.
   */
  readonly url: string;
  /** Closes the connections and stops the web server. */
  close(): Promise<void>;
  /** Resolves when the inspector has closed. */
  readonly closed: Promise<void>;
}
