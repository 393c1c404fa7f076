import { setImmediate } from "node:timers/promises";
import { toAnthropicTools, toGeminiTools, toOpenAITools } from "@parley/mcp/adapters";
import type { Finding } from "@parley/mcp/lint";
import type { Tool } from "@parley/mcp/protocol";
import type { ModelTool, ModelView, Provider } from "../contract/model-view.js";

/** What a model is shown of a server. */
interface ShownServer {
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

/** A tool in the form of one provider. */
interface ProviderTool {
  /** The name that the server gave. */
  readonly name: string;
  readonly sent: Readonly<Record<string, unknown>>;
  readonly lost: readonly string[];
}

/**
 * Writes tools for a provider, in their order. All of them must be for models, and have different names. A tool that cannot be
 * written is there without a form, and `lost` says why.
 */
async function providerTools(tools: readonly Tool[], provider: Provider): Promise<ProviderTool[]> {
  try {
    const written = await writtenTools(tools, provider);
    if (written.length === tools.length) return written;
  } catch {
    // Found below, without harm to the others.
  }
  const alone: ProviderTool[] = [];
  for (const tool of tools) alone.push(await writtenAlone(tool, provider));
  return alone;
}

async function writtenAlone(tool: Tool, provider: Provider): Promise<ProviderTool> {
  try {
    const [written] = await writtenTools([tool], provider);
    return written ?? { name: tool.name, sent: {}, lost: ["the tool: it is not for models"] };
  } catch (reason) {
    const why = reason instanceof Error ? reason.message : String(reason);
    return { name: tool.name, sent: {}, lost: [`the tool: all of it. ${why}`] };
  }
}

interface Written {
  readonly sent: readonly object[];
  readonly lost: readonly { readonly tool: string; readonly parts: readonly string[] }[];
}

async function writtenTools(tools: readonly Tool[], provider: Provider): Promise<ProviderTool[]> {
  const { sent, lost } = await WRITE[provider]({ allTools: () => tools, callTool: onlyShown });
  const parts = new Map(lost.map((one) => [one.tool, one.parts]));
  return sent.map((one, at) => {
    const name = tools[at]?.name ?? "";
    return { name, sent: { ...one }, lost: parts.get(name) ?? [] };
  });
}

const WRITE: Readonly<Record<Provider, (source: ShownTools) => Promise<Written>>> = {
  anthropic: async (source) => {
    const { tools, lost } = await toAnthropicTools(source);
    return { sent: tools, lost };
  },
  openai: async (source) => {
    const { responses, lost } = await toOpenAITools(source, { strict: false });
    return { sent: responses, lost };
  },
  "openai-strict": async (source) => {
    const { responses, lost } = await toOpenAITools(source, { strict: true });
    return { sent: responses, lost };
  },
  gemini: async (source) => {
    const { tools, lost } = await toGeminiTools(source);
    return { sent: tools.flatMap(({ functionDeclarations }) => functionDeclarations), lost };
  },
  mcp: async ({ allTools }) => ({ sent: allTools(), lost: [] }),
};

interface ShownTools {
  allTools(): readonly Tool[];
  callTool(): Promise<never>;
}

function onlyShown(): Promise<never> {
  return Promise.reject(new Error("these tools are only shown"));
}
