import type { ClientEra } from "../../era/era.js";
import type { NegotiationResult } from "../../era/negotiate/negotiation.js";
import { type Implementation, LIBRARY_VERSION } from "../../protocol/implementation.js";
import type { MethodTable } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions.js";
import type { Transport } from "../../transport/transport.js";
import type { ClientOptions } from "../contract/options.js";

/**
 * All that one handshake established, as one value that the next handshake replaces. A call reads it once and keeps it:
 * a call whose value is no longer the current one was sent before the last handshake.
 */
export interface CurrentConnection extends Readonly<NegotiationResult> {
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

/** Servers that one process remembers; the one that was used longest ago goes first. */
const MAX_SERVERS = 512;

/**
 * Which revision each server spoke last, by its full URL or command. Knowing it saves the probe and decides nothing: a server that
 * no longer speaks it is asked again.
 *
 * What a client came to that was allowed some revisions only says nothing to one that is allowed others.
 */
export class RevisionCache {
  readonly #revisions = new Map<string, Revision>();

  get(key: string | undefined, allowed?: readonly Revision[]): Revision | undefined {
    return key === undefined ? undefined : this.#revisions.get(nameOf(key, allowed));
  }

  set(key: string | undefined, revision: Revision, allowed?: readonly Revision[]): void {
    if (key === undefined) return;
    const name = nameOf(key, allowed);
    // Deleted first, so that the order of the map is the order of use.
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

/** The implementation that the client reports. */
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
