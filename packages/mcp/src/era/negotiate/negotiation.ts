import type { Id } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { MethodTable } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions.js";
import type { ClientEra, ClientSelf, EncodedMessage } from "../era.js";
import type { Prior } from "./prior.js";

/** What is known of a server once its era is found. */
export interface Established {
  era: ClientEra;
  serverInfo: Implementation | undefined;
  capabilities: ServerCapabilities;
  instructions: string | undefined;
}

/** The part of a transport that finding the era uses. */
export interface ProbedTransport {
  readonly kind: "channel" | "http";
  readonly target: string;
  request(request: EncodedMessage & { id: Id }): Promise<unknown>;
  notify(notification: EncodedMessage): void | Promise<void>;
  established?(facts: { headers: Record<string, string>; hasSessions: boolean }): void;
}

/** What finding the era needs. */
export interface Negotiation {
  transport: ProbedTransport;
  self(revision: Revision): ClientSelf;
  methods: MethodTable;
  resultTypes: readonly string[];
  revisions: readonly Revision[];
  prior: Prior | undefined;
  /** Begin with the handshake, without `server/discover` before it, where an allowed revision has one. */
  skipProbe: boolean;
  platform: Platform;
  nextId(): Id;
}

/** One negotiation as it goes: the handshake is made at most once. */
export interface Attempt {
  /** True once a refused version was answered by a second try. */
  readonly retried?: boolean;
  readonly negotiation: Negotiation;
  readonly stateless: readonly Revision[];
  readonly stateful: readonly Revision[];
  handshake?: Promise<Established>;
  /** The era is known; what comes later changes nothing. */
  decided: boolean;
}
