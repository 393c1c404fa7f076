import { setImmediate } from "node:timers/promises";
import { toAnthropicTools, toGeminiTools, toOpenAITools } from "@parley/mcp/adapters";
import type { Finding } from "@parley/mcp/lint";
import type { Tool } from "@parley/mcp/protocol";
import type { ModelTool, ModelView, Provider } from "../contract/model-view.js";

/** The parts of a server that a model receives, with the lint findings. */
interface ServerForModel {
  /** The tools for models, without duplicate names. */
  readonly tools: readonly Tool[];
  readonly instructions: string;
  readonly findings: readonly Finding[];
  /** True if the server has more tools. */
  readonly cut: boolean;
}

/**
 * Number of tools whose tokens are counted before yielding to the event loop. A tokenizer takes about 10 ms for this
 * number.
 */
const BATCH_SIZE = 200;

/**
 * Converts the tools of a server for a provider and counts their tokens. Without `countTokens`, the tokens are
 * estimated from the length of the text.
 */
export async function modelViewOf(
  { tools, instructions, findings, cut }: ServerForModel,
  provider: Provider,
  countTokens?: (text: string) => number,
): Promise<ModelView> {
  const count = countTokens ?? estimatedTokens;
  const byTool = new Map<string | undefined, Finding[]>();
  for (const finding of findings) byTool.set(finding.tool, [...(byTool.get(finding.tool) ?? []), finding]);
  const written: ModelTool[] = [];
  for (const { name, sent, lost } of await providerTools(tools, provider)) {
    if (written.length % BATCH_SIZE === BATCH_SIZE - 1) await setImmediate();
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

/** Estimates the tokens of a text: about four characters of English text or JSON are one token. */
function estimatedTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** A tool in the format of one provider. */
interface ProviderTool {
  /** The name of the tool on the server. */
  readonly name: string;
  readonly sent: Readonly<Record<string, unknown>>;
  readonly lost: readonly string[];
}

/**
 * Converts tools for a provider, in order. All tools must be intended for models and have different names. A tool that
 * cannot be converted has an empty `sent`, and its `lost` has the reason.
 */
async function providerTools(tools: readonly Tool[], provider: Provider): Promise<ProviderTool[]> {
  try {
    const written = await convertTools(tools, provider);
    if (written.length === tools.length) return written;
  } catch {
    // The code below converts the tools one by one, to find the tool that fails.
  }
  const alone: ProviderTool[] = [];
  for (const tool of tools) alone.push(await convertAlone(tool, provider));
  return alone;
}

async function convertAlone(tool: Tool, provider: Provider): Promise<ProviderTool> {
  try {
    const [written] = await convertTools([tool], provider);
    return written ?? { name: tool.name, sent: {}, lost: ["the whole tool: it is not for models"] };
  } catch (reason) {
    const why = reason instanceof Error ? reason.message : String(reason);
    return { name: tool.name, sent: {}, lost: [`the whole tool: ${why}`] };
  }
}

interface ProviderOutput {
  readonly sent: readonly object[];
  readonly lost: readonly { readonly tool: string; readonly parts: readonly string[] }[];
}

async function convertTools(tools: readonly Tool[], provider: Provider): Promise<ProviderTool[]> {
  const { sent, lost } = await ADAPTERS[provider]({ allTools: () => tools, callTool: refuseCall });
  const parts = new Map(lost.map((one) => [one.tool, one.parts]));
  return sent.map((one, at) => {
    const name = tools[at]?.name ?? "";
    return { name, sent: { ...one }, lost: parts.get(name) ?? [] };
  });
}

const ADAPTERS: Readonly<Record<Provider, (source: ToolSource) => Promise<ProviderOutput>>> = {
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

interface ToolSource {
  allTools(): readonly Tool[];
  callTool(): Promise<never>;
}

function refuseCall(): Promise<never> {
  return Promise.reject(new Error("these tools cannot be called"));
}
