import type { TokenStore } from "@parley/mcp/auth";
import type { CreateMessageRequestParams, CreateMessageResult, Revision } from "@parley/mcp/protocol";
import type { InspectorTarget } from "./connections/inspector-target.js";

/** Options of `startInspector`. */
export interface InspectorOptions {
  /** What can be connected to besides addresses; each is connected at once. Default: none. */
  targets?: readonly InspectorTarget[] | undefined;
  /** The port on this machine. Default: 0, a free one. */
  port?: number | undefined;
  /** The revision to speak first; another can be chosen in the page. Default: it is negotiated. */
  revision?: Revision | undefined;
  /** How long a server may take to connect, in milliseconds, the time of a login not counted. Default: 30 s. */
  connectMs?: number | undefined;
  /** Gives what counts the tokens of a text, when tools are first shown as models see them. Default: an estimate by its length. */
  loadTokenizer?: (() => Promise<(text: string) => number>) | undefined;
  /** Answers for a model where the user lets it. Default: the user answers by hand. */
  model?: ((params: CreateMessageRequestParams, signal: AbortSignal) => Promise<CreateMessageResult>) | undefined;
  /** Where tokens of logins are kept. Default: in memory, for as long as the inspector runs. */
  tokens?: TokenStore | undefined;
}

/** An inspector that is running. */
export interface Inspector {
  /** The address for a browser. Whoever has it may use the inspector: the token in it is the key. */
  readonly url: string;
  /** Ends its connections and stops serving. */
  close(): Promise<void>;
  /** Resolves when it has been closed. */
  readonly closed: Promise<void>;
}
