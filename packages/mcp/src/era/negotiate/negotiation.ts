import type { Id } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { MethodTable } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions.js";
import type { ClientEra, ClientSelf, EncodedMessage } from "../era.js";

/** What is known about a server once its era has been found. */
export interface Established {
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
  established?(facts: { headers: Record<string, string>; hasSessions: boolean }): void;
}

/** The input of a negotiation. */
export interface Negotiation {
  transport: ProbedTransport;
  self(revision: Revision): ClientSelf;
  methods: MethodTable;
  resultTypes: readonly string[];
  revisions: readonly Revision[];
  prior: Prior | undefined;
  /** Begin with the handshake instead of `server/discover`, if an allowed revision has a handshake. */
  skipProbe: boolean;
  platform: Platform;
  nextId(): Id;
  /** The server is known, and is about to be told so; from now on it may ask questions. */
  greeted?(established: Established): void;
}

/** The state of one negotiation; it performs the handshake at most once. */
export interface Attempt {
  /** True in the second probe, which follows a refused version. */
  readonly retried?: boolean;
  readonly negotiation: Negotiation;
  readonly stateless: readonly Revision[];
  readonly stateful: readonly Revision[];
  handshake?: Promise<Established>;
  /** The era is known; later answers are ignored. */
  decided: boolean;
}

/** What an earlier connection learnt about a server, from `client.prior`; it replaces the probe. */
export interface Prior {
  revision: Revision;
  /** The server's capabilities; with them, a stateless connection sends nothing before the first call. */
  capabilities?: ServerCapabilities | undefined;
  serverInfo?: Implementation | undefined;
  instructions?: string | undefined;
}

/** What a later connection may know of this one, as JSON. */
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
