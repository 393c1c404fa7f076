import type { Client } from "@parley/mcp";
import type { Tool } from "@parley/mcp/protocol";
import type { CalledConnection } from "../calls/called-connection.js";

/** The tools of a server as it lists them. */
export interface ListedTools {
  readonly tools: readonly Tool[];
  /** The server has more. */
  readonly cut: boolean;
}

/** Tools of a server that are shown; adapters take no more. */
export const MOST_MODEL_TOOLS = 10_000;
/** Long enough to look at every provider; servers may change their tools without a word. */
const KEPT_MS = 30_000;

interface KeptList {
  /** How often the list had changed when it was asked for. */
  readonly changes: number | undefined;
  readonly until: number;
  readonly read: Promise<ListedTools>;
}

/** Lists tools, and keeps the lists for a while: the next provider is shown the same ones. */
export class KeptTools {
  readonly #kept = new WeakMap<Client, KeptList>();

  of({ client, info }: CalledConnection): Promise<ListedTools> {
    const changes = info.lists.tools;
    const before = this.#kept.get(client);
    if (before !== undefined && before.changes === changes && performance.now() < before.until) return before.read;
    const read = listedTools(client);
    this.#kept.set(client, { changes, until: performance.now() + KEPT_MS, read });
    // The next one who asks tries again.
    read.catch(() => this.#kept.delete(client));
    return read;
  }
}

async function listedTools(client: Client): Promise<ListedTools> {
  const tools: Tool[] = [];
  if (client.serverCapabilities.tools === undefined) return { tools, cut: false };
  for await (const tool of client.tools()) {
    if (tools.length === MOST_MODEL_TOOLS) return { tools, cut: true };
    tools.push(tool);
  }
  return { tools, cut: false };
}
