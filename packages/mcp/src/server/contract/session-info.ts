import type { Principal } from "../../http/authentication.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { NetworkFacts, Peer } from "../../transport/transport.js";

/** One connected client: an HTTP session, or the other end of a pipe, socket or port. */
export interface SessionInfo {
  /** `http` for a session of Streamable HTTP, `channel` for everything with one connection. */
  readonly transport: "http" | "channel";
  /** How its messages travel; undefined in this process, and where the transport does not tell. */
  readonly network: NetworkFacts | undefined;
  /** The revision that the handshake agreed on. Undefined before it, and for clients of revisions that have none. */
  readonly protocolVersion: string | undefined;
  /** True after `notifications/initialized`. */
  readonly initialized: boolean;
  /** What the client says about itself. Unverified. */
  readonly client: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
  /** Who opened it; undefined without authorization. */
  readonly auth: Principal | undefined;
  /** Ends it; handler objects get the reason. Default: `ended`. */
  end(reason?: string): void;
}

/** What a server knows about one of its peers. */
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
