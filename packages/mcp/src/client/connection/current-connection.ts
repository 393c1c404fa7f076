import type { ClientEra } from "../../era/era.js";
import type { Established } from "../../era/negotiate/negotiation.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { MethodTable } from "../../protocol/methods.js";
import type { Transport } from "../../transport/transport.js";

/**
 * All that one handshake established, as one value that the next handshake replaces. A call reads it once and keeps it:
 * a call whose value is no longer the current one was sent before the last handshake.
 */
export interface CurrentConnection extends Readonly<Established> {
  readonly era: ClientEra;
  readonly transport: Transport;
  /** Who asks questions: the server by its own name, or by its address when it gives none. */
  readonly asker: Implementation;
  /** The capabilities that methods need and the server declared, as paths. */
  readonly offered: ReadonlySet<string>;
  /** Whether the server may send requests. */
  readonly serverMayAsk: boolean;
  /** Whether calls of tools repeat annotated arguments in headers. */
  readonly mirrors: boolean;
}

/** The value for a handshake that succeeded over `transport`. */
export function currentConnection(
  established: Established,
  transport: Transport,
  methods: MethodTable,
): CurrentConnection {
  const { era, capabilities, serverInfo } = established;
  const asker = serverInfo ?? { name: transport.target, version: "" };
  const offered = new Set<string>();
  for (const { capability } of methods.rows()) {
    if (capability !== undefined && era.offers(capabilities, capability)) offered.add(capability);
  }
  return Object.freeze({
    ...established,
    transport,
    asker,
    offered,
    serverMayAsk: era.serverAsks,
    mirrors: era.mirrorsParams,
  });
}
