import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Client } from "@parley/mcp";
import { type Finding, LINT_RULES, lintTools } from "@parley/mcp/lint";
import type { Tool } from "@parley/mcp/protocol";
import type { CalledConnection, ConnectionFinder } from "../calls/called-connection.js";
import type { ActionHandlers } from "../contract/actions.js";
import { PROVIDERS } from "../contract/model-view.js";
import { choiceOf, textOf } from "../engine/read-input.js";
import { modelViewOf } from "./model-view-of.js";

/** What the room needs of the others. */
interface ModelActionsOptions {
  readonly connections: ConnectionFinder;
  /** Gives what counts the tokens of a text. Default: an estimate, and the view says so. */
  readonly loadTokenizer?: (() => Promise<(text: string) => number>) | undefined;
}

/** Shows the tools of a server as a model gets them. */
export function modelActions({ connections, loadTokenizer }: ModelActionsOptions): Pick<ActionHandlers, "modelView"> {
  const kept = new KeptFindings();
  const lists = new KeptTools();
  return {
    async modelView(input) {
      const provider = choiceOf(input, "provider", PROVIDERS);
      const connection = connections.get(textOf(input, "connection"));
      const { client, extensions } = connection;
      const { tools, cut } = await lists.of(connection);
      const forModels = client.extension(extensions.apps).toolsForModel(withoutRepeats(tools));
      const { instructions = "" } = client;
      const countTokens = await loadTokenizer?.();
      const findings = await kept.of(tools, countTokens);
      return modelViewOf({ tools: forModels, cut, instructions, findings }, provider, countTokens);
    },
  };
}

/** Providers refuse a name that is there twice, so that only the first tool of a name is offered. */
function withoutRepeats(tools: readonly Tool[]): Tool[] {
  const names = new Set<string>();
  return tools.filter(({ name }) => names.size < names.add(name).size);
}

/** Lists whose findings are kept; a user switches between a few servers. */
const MOST_LISTS = 8;

/** Lints lists of tools, and remembers what was found: ten thousand tools take seconds. */
class KeptFindings {
  readonly #kept = new Map<string, Promise<readonly Finding[]>>();

  /** What lint says of these tools, by rule. */
  of(tools: readonly Tool[], countTokens?: (text: string) => number): Promise<readonly Finding[]> {
    const key = createHash("sha256").update(JSON.stringify(tools)).digest("base64");
    const findings = this.#kept.get(key) ?? findingsOf(tools, countTokens);
    // The one that was used last is forgotten last.
    this.#kept.delete(key);
    this.#kept.set(key, findings);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_LISTS && oldest !== undefined) this.#kept.delete(oldest);
    return findings;
  }
}

/** One rule after another, so that others get their turn. */
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

/** The tools of a server as it lists them. */
interface ListedTools {
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
class KeptTools {
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
