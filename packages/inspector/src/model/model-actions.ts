import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Client } from "@parley/mcp";
import { type Finding, LINT_RULES, lintTools } from "@parley/mcp/lint";
import type { Tool } from "@parley/mcp/protocol";
import type { CallableConnection, ConnectionFinder } from "../calls/callable-connection.js";
import type { ActionHandlers } from "../contract/actions.js";
import { PROVIDERS } from "../contract/model-view.js";
import { choiceOf, textOf } from "../engine/read-input.js";
import { modelViewOf } from "./model-view-of.js";

/** Options of `modelActions`. */
interface ModelActionsOptions {
  readonly connections: ConnectionFinder;
  /** Loads the function that counts the tokens of a text. Default: the tokens are estimated, and the view says so. */
  readonly loadTokenizer?: (() => Promise<(text: string) => number>) | undefined;
}

/** Creates the action that shows the tools of a server as a model receives them. */
export function modelActions({ connections, loadTokenizer }: ModelActionsOptions): Pick<ActionHandlers, "modelView"> {
  const findingsCache = new FindingsCache();
  const toolLists = new ToolListCache();
  return {
    async modelView(input) {
      const provider = choiceOf(input, "provider", PROVIDERS);
      const connection = connections.get(textOf(input, "connection"));
      const { client, extensions } = connection;
      const { tools, cut } = await toolLists.get(connection);
      const forModels = client.extension(extensions.apps).toolsForModel(withoutRepeats(tools));
      const { instructions = "" } = client;
      const countTokens = await loadTokenizer?.();
      const findings = await findingsCache.get(tools, countTokens);
      return modelViewOf({ tools: forModels, cut, instructions, findings }, provider, countTokens);
    },
  };
}

/** Keeps only the first tool of each name, because providers reject duplicates. */
function withoutRepeats(tools: readonly Tool[]): Tool[] {
  const names = new Set<string>();
  return tools.filter(({ name }) => names.size < names.add(name).size);
}

/** Maximum number of tool lists whose findings are cached. Beyond it, the least recently used list is dropped. */
const MAX_CACHED_LISTS = 8;

/** Lints tool lists and caches the findings, because linting ten thousand tools takes seconds. */
class FindingsCache {
  readonly #findings = new Map<string, Promise<readonly Finding[]>>();

  /** Returns the lint findings for these tools, ordered by rule. */
  get(tools: readonly Tool[], countTokens?: (text: string) => number): Promise<readonly Finding[]> {
    const key = createHash("sha256").update(JSON.stringify(tools)).digest("base64");
    const findings = this.#findings.get(key) ?? findingsOf(tools, countTokens);
    // Reinserted at the end, so that the least recently used key is the first.
    this.#findings.delete(key);
    this.#findings.set(key, findings);
    const [oldest] = this.#findings.keys();
    if (this.#findings.size > MAX_CACHED_LISTS && oldest !== undefined) this.#findings.delete(oldest);
    return findings;
  }
}

/** Applies one rule at a time and yields to the event loop after each rule. */
async function findingsOf(
  tools: readonly Tool[],
  countTokens: ((text: string) => number) | undefined,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { id } of LINT_RULES) {
    for (const finding of lintTools(tools, { only: [id], countTokens })) findings.push(finding);
    await setImmediate();
  }
  return findings;
}

/** The tools of a server as listed. */
interface ToolList {
  readonly tools: readonly Tool[];
  /** True if the server has more tools. */
  readonly cut: boolean;
}

/** Maximum number of tools shown. Further tools are omitted. The adapters have the same limit. */
export const MAX_MODEL_TOOLS = 10_000;
/**
 * Time for which a tool list is cached. It is long enough to view the tools of every provider, but short, because
 * servers may change their tools without a notification.
 */
const CACHE_MS = 30_000;

interface CachedToolList {
  /** The change counter of the list when it was requested. */
  readonly changes: number | undefined;
  readonly until: number;
  readonly read: Promise<ToolList>;
}

/** Lists tools and caches the lists for a short time, so that all providers show the same tools. */
class ToolListCache {
  readonly #lists = new WeakMap<Client, CachedToolList>();

  get({ client, info }: CallableConnection): Promise<ToolList> {
    const changes = info.lists.tools;
    const before = this.#lists.get(client);
    if (before !== undefined && before.changes === changes && performance.now() < before.until) return before.read;
    const read = listTools(client);
    this.#lists.set(client, { changes, until: performance.now() + CACHE_MS, read });
    // A failed read is not cached.
    read.catch(() => this.#lists.delete(client));
    return read;
  }
}

async function listTools(client: Client): Promise<ToolList> {
  const tools: Tool[] = [];
  if (client.serverCapabilities.tools === undefined) return { tools, cut: false };
  for await (const tool of client.tools()) {
    if (tools.length === MAX_MODEL_TOOLS) return { tools, cut: true };
    tools.push(tool);
  }
  return { tools, cut: false };
}
