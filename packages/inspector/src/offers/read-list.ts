import type { CallOptions } from "@parley/mcp";
import { McpError } from "@parley/mcp/protocol";
import type { CalledConnection } from "../calls/called-connection.js";
import { jsonBytes } from "../calls/json-bytes.js";
import type { OfferKind } from "../contract/connections.js";
import { type Definitions, keyOf } from "./offer-summary.js";

/** How much of one list is read. */
export interface ListLimits {
  /** Entries. Default 20,000. */
  entries: number;
  /** Bytes of all entries. Default 32 MiB. */
  bytes: number;
}

export const DEFAULT_LIST_LIMITS: ListLimits = { entries: 20_000, bytes: 32 * 1024 * 1024 };

/** A list as it was read. */
export interface ReadList<K extends OfferKind> {
  /** By what identifies them, in the order of the server; of entries with the same name the first. */
  readonly entries: ReadonlyMap<string, Definitions[K]>;
  /** Names that the server lists more than once. */
  readonly repeated: ReadonlySet<string>;
  /** The list goes on, or does not end. */
  readonly cut: boolean;
}

/** Reads a list of a server, page by page, until it ends or a limit is reached. */
export async function readList<K extends OfferKind>(
  connection: CalledConnection,
  kind: K,
  options: CallOptions,
  limits: ListLimits,
): Promise<ReadList<K>> {
  const entries = new Map<string, Definitions[K]>();
  const repeated = new Set<string>();
  let bytes = 0;
  try {
    for await (const definition of walk(connection, kind, options)) {
      bytes += jsonBytes(definition);
      const key = keyOf(kind, definition);
      // One that repeats itself for ever counts with its bytes.
      if (entries.size >= limits.entries || bytes > limits.bytes) return { entries, repeated, cut: true };
      if (entries.has(key)) repeated.add(key);
      else entries.set(key, definition);
    }
  } catch (error) {
    // Too many pages, or a cursor that comes back: what came before is worth showing.
    const endless = McpError.is(error) && error.kind === "limit_exceeded" && entries.size > 0;
    if (!endless) throw error;
    return { entries, repeated, cut: true };
  }
  return { entries, repeated, cut: false };
}

function walk<K extends OfferKind>(
  { client, extensions }: CalledConnection,
  kind: K,
  options: CallOptions,
): AsyncIterable<Definitions[K]> {
  const walks: { readonly [L in OfferKind]: () => AsyncIterable<Definitions[L]> } = {
    tools: () => client.tools(options),
    resources: () => client.resources(options),
    templates: () => client.resourceTemplates(options),
    prompts: () => client.prompts(options),
    skills: () => client.extension(extensions.skills).list(options),
  };
  return walks[kind]();
}
