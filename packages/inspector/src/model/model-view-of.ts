import { setImmediate } from "node:timers/promises";
import type { Finding } from "@parley/mcp/lint";
import type { Tool } from "@parley/mcp/protocol";
import type { ModelTool, ModelView, Provider } from "../contract/model-view.js";
import { providerTools } from "./provider-tools.js";

/** What a model is shown of a server. */
export interface ShownServer {
  /** Those that are for models, each name once. */
  readonly tools: readonly Tool[];
  readonly instructions: string;
  readonly findings: readonly Finding[];
  /** The server has more tools. */
  readonly cut: boolean;
}

/** Tools that are counted before others get their turn; a tokenizer takes some 10 ms for them. */
const AT_ONCE = 200;

/** What a provider makes of the tools of a server, and what they cost; without `countTokens`, by the length of texts. */
export async function modelViewOf(
  { tools, instructions, findings, cut }: ShownServer,
  provider: Provider,
  countTokens?: (text: string) => number,
): Promise<ModelView> {
  const count = countTokens ?? estimatedTokens;
  const byTool = new Map<string | undefined, Finding[]>();
  for (const finding of findings) byTool.set(finding.tool, [...(byTool.get(finding.tool) ?? []), finding]);
  const written: ModelTool[] = [];
  for (const { name, sent, lost } of await providerTools(tools, provider)) {
    if (written.length % AT_ONCE === AT_ONCE - 1) await setImmediate();
    const tokens = Object.keys(sent).length === 0 ? 0 : count(JSON.stringify(sent));
    written.push({ name, sent, tokens, lost, findings: byTool.get(name) ?? [] });
  }
  return {
    provider,
    tools: written,
    tokens: written.reduce((sum, { tokens }) => sum + tokens, 0),
    instructionTokens: instructions === "" ? 0 : count(instructions),
    counted: countTokens === undefined ? "estimated" : "exactly",
    findings: byTool.get(undefined) ?? [],
    cut,
  };
}

/** Four characters of English text or JSON are about one token. */
function estimatedTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
