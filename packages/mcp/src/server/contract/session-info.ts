import type { Principal } from "../../http/authentication.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { NetworkInfo, Peer } from "../../transport/transport.js";

/** One connected client: an HTTP session, or the other end of a pipe, socket or port. */
export interface SessionInfo {
  /** `http` for a session of Streamable HTTP, `channel` for every transport with a single connection. */
  readonly transport: "http" | "channel";
  /**
   * The network connection of the client. Undefined for a client in this process, and if the transport does not report
   * it.
   */
  readonly network: NetworkInfo | undefined;
  /**
   * The protocol revision that the handshake negotiated. Undefined before the handshake, and for revisions without one.
   */
  readonly protocolVersion: string | undefined;
  /** True once the client has sent `notifications/initialized`. */
  readonly initialized: boolean;
  /** Name and version of the client's software, as the client claims. Nothing verifies them. */
  readonly client: Implementation | undefined;
  /** The capabilities that the client declared in the handshake. */
  readonly capabilities: ClientCapabilities;
  /** The authenticated caller that opened the session. Undefined without authorization. */
  readonly auth: Principal | undefined;
  /** Ends the session or connection. Handler objects receive the reason. Default: `ended`. */
  end(reason?: string): void;
}

/** Describes one peer of a server. */
export function sessionInfo(peer: Pick<Peer, "transport" | "network" | "session" | "principal" | "end">): SessionInfo {
  const { session } = peer;
  return {
    transport: peer.transport ?? "channel",
    network: peer.network,
    protocolVersion: session?.revision,
    initialized: session?.initialized === true,
    client: session?.clientInfo,
    capabilities: session?.clientCapabilities ?? {},
    auth: peer.principal,
    end: (reason = "ended") => peer.end?.(reason),
  };
}
