import type { ClientEra } from "../../era/era.js";
import type { NegotiationResult } from "../../era/negotiate/negotiation.js";
import { type Implementation, LIBRARY_VERSION } from "../../protocol/implementation.js";
import type { MethodTable } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions.js";
import type { Transport } from "../../transport/transport.js";
import type { ClientOptions } from "../contract/options.js";

/**
 * The result of one handshake, as one value that the next handshake replaces. A call stores the value that it was sent
 * with. If that is no longer the current value, the call was sent before the last handshake.
 */
export interface CurrentConnection extends Readonly<NegotiationResult> {
  readonly era: ClientEra;
  readonly transport: Transport;
  /**
   * Identifies the server in questions to the application: by its reported name, or by its address if it reports none.
   */
  readonly asker: Implementation;
  /** The paths of the capabilities that methods need and the server declared. */
  readonly offered: ReadonlySet<string>;
  /** True if the server may send requests. */
  readonly serverMayAsk: boolean;
  /** True if tool calls repeat annotated arguments in headers. */
  readonly mirrors: boolean;
}

/** Creates the value for a handshake that succeeded over `transport`. */
export function currentConnection(
  established: NegotiationResult,
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

/**
 * Maximum number of servers whose revision one process stores. Beyond that, the least recently updated one is evicted.
 */
const MAX_SERVERS = 512;

/**
 * The revision that each server used last, by its full URL or command. It only saves the probe: if the server no longer
 * supports the revision, the client negotiates again. Clients with different allowed revisions have separate entries.
 */
export class RevisionCache {
  readonly #revisions = new Map<string, Revision>();

  get(key: string | undefined, allowed?: readonly Revision[]): Revision | undefined {
    return key === undefined ? undefined : this.#revisions.get(nameOf(key, allowed));
  }

  set(key: string | undefined, revision: Revision, allowed?: readonly Revision[]): void {
    if (key === undefined) return;
    const name = nameOf(key, allowed);
    // Deleted first, so that the map stays in order of the last update.
    this.#revisions.delete(name);
    this.#revisions.set(name, revision);
    const oldest = this.#revisions.size > MAX_SERVERS ? this.#revisions.keys().next().value : undefined;
    if (oldest !== undefined) this.#revisions.delete(oldest);
  }
}

function nameOf(key: string, allowed: readonly Revision[] | undefined): string {
  return allowed === undefined ? key : `${[...allowed].sort().join()} ${key}`;
}

const NAME = "parley";

/** Returns the implementation info that the client reports. */
export function implementationOf(options: ClientOptions): Implementation {
  const { name = NAME, version = LIBRARY_VERSION, title, description, websiteUrl, icons } = options;
  return {
    name,
    version,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(websiteUrl === undefined ? {} : { websiteUrl }),
    ...(icons === undefined ? {} : { icons }),
  };
}
