import type { Id } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { MethodTable } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions.js";
import type { ClientEra, ClientSelf, EncodedMessage } from "../era.js";

/** The outcome of a negotiation: the era, and the server's description of itself. */
export interface NegotiationResult {
  era: ClientEra;
  serverInfo: Implementation | undefined;
  capabilities: ServerCapabilities;
  instructions: string | undefined;
}

/** The part of a transport that negotiation uses. */
export interface ProbedTransport {
  readonly kind: "channel" | "http";
  readonly target: string;
  request(request: EncodedMessage & { id: Id }): Promise<unknown>;
  notify(notification: EncodedMessage): void | Promise<void>;
  /** Called with the settings of the chosen era, only once and before further messages are sent. */
  established?(facts: { headers: Record<string, string>; hasSessions: boolean }): void;
}

/** The input of a negotiation. */
export interface Negotiation {
  transport: ProbedTransport;
  /** The client's properties in a revision. */
  self(revision: Revision): ClientSelf;
  methods: MethodTable;
  resultTypes: readonly string[];
  /** The revisions that the application allows. */
  revisions: readonly Revision[];
  /** Knowledge from an earlier connection, if any. */
  prior: Prior | undefined;
  /** True to begin with the handshake instead of `server/discover`, if an allowed revision has a handshake. */
  skipProbe: boolean;
  platform: Platform;
  nextId(): Id;
  /**
   * Called after a successful handshake, before `notifications/initialized` is sent. After that notification the server
   * may send questions.
   */
  onNegotiated?(established: NegotiationResult): void;
}

/** The state of one negotiation. */
export interface Attempt {
  /** True during the second probe, which follows a rejected version. */
  readonly retried?: boolean;
  readonly negotiation: Negotiation;
  /** The allowed revisions without a handshake, newest first. */
  readonly stateless: readonly Revision[];
  /** The allowed revisions with a handshake, newest first. */
  readonly stateful: readonly Revision[];
  /**
   * The running or finished handshake. Stored, so that the probe and the timer of `probeAndHandshake` share one
   * handshake.
   */
  handshake?: Promise<NegotiationResult>;
  /**
   * True once the probe or a concurrent handshake has ended the negotiation. A handshake that ends later has no effect.
   */
  decided: boolean;
}

/**
 * The properties of a server from an earlier connection, as returned by `client.prior`. They let a connection skip the
 * probe. A stateless connection needs `capabilities` for that.
 */
export interface Prior {
  /** The revision that the earlier connection used. */
  revision: Revision;
  /**
   * The server's capabilities. If present, a stateless connection sends nothing before the first call. Otherwise it
   * probes the server, beginning with `revision`.
   */
  capabilities?: ServerCapabilities | undefined;
  /** The server's name and version, if it stated them. */
  serverInfo?: Implementation | undefined;
  /** The server's instructions for the model, if it has any. */
  instructions?: string | undefined;
}

/** Returns the outcome of a negotiation as JSON, for use as the `prior` of later connections. */
export function priorOf({
  era,
  capabilities,
  serverInfo,
  instructions,
}: Omit<Prior, "revision"> & { era: { revision: Revision } }): Prior {
  return {
    revision: era.revision,
    capabilities,
    ...(serverInfo === undefined ? {} : { serverInfo }),
    ...(instructions === undefined ? {} : { instructions }),
  };
}
