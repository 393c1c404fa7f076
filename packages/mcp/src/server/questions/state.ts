import { toBase64Url } from "../../encoding/base64.js";
import { canonicalJson } from "../../encoding/canonical-json.js";
import { utf8Bytes } from "../../encoding/json-bytes.js";
import { type ErrorKind, McpError } from "../../protocol/error.js";
import type { ServerCall } from "../call/server-call.js";
import { messageOf } from "../call/thrown.js";
import { ToolError } from "../tools/tool.js";

/** What a step left behind: its JSON value, or its failure. */
export type StepRecord = { value?: unknown } | { failure: StepFailure };

/** What one round of questions hands to the next, inside the client's keeping. */
export interface QuestionState {
  /** Names the call over all its rounds. */
  id: string;
  round: number;
  answers: Record<string, unknown>;
  steps: Record<string, StepRecord>;
  /** Keys of the questions that this round asked. */
  asked: string[];
}

interface Sealed {
  /** When it ends, in milliseconds since the epoch. */
  until: number;
  /** Digest of who asked for what: a state fits its own request only. */
  bound: string;
  state: QuestionState;
}

/** Seals a state for the same caller and the same request. */
export async function sealState(call: ServerCall, state: QuestionState): Promise<string> {
  const { platform, limits, secrets } = call.facts;
  const payload: Sealed = { until: platform.now() + limits.answerMs, bound: binding(call), state };
  const text = JSON.stringify(payload);
  if (utf8Bytes(text) > limits.stateBytes) {
    throw new McpError(
      "limit_exceeded",
      `answers and steps of ${call.request.method} exceed ${limits.stateBytes} bytes`,
      {
        fix: "Return less from `ctx.step`, or raise `limits.stateBytes`.",
      },
    );
  }
  return secrets.seal("state", text);
}

/** Opens a state that came back; throws when it is not one of ours, not for this request, or too old. */
export async function openState(call: ServerCall, sealed: unknown): Promise<QuestionState> {
  const { platform, limits, secrets } = call.facts;
  if (typeof sealed !== "string") throw refused("is not a string", "Echo it exactly as it was given.");
  // Base64 and encryption add about a third.
  if (sealed.length > 2 * limits.stateBytes) throw refused("is too long", "Echo it exactly as it was given.");
  const opened = await secrets.open("state", sealed);
  if ("fault" in opened) {
    const foreign = opened.fault === "foreign";
    throw refused(
      foreign ? "was made by another process" : "was altered",
      foreign ? "Give every process of this server the same `secret`." : "Echo it exactly as it was given.",
    );
  }
  // Only this server can have sealed it, so its shape is known.
  const { until, bound, state } = JSON.parse(opened.text) as Sealed;
  if (until < platform.now()) throw refused("has expired", "Call again without it.");
  if (bound !== binding(call))
    throw refused("belongs to another request", "Send it only with the request that it answers.");
  return state;
}

function refused(what: string, fix: string): McpError {
  return new McpError("invalid_params", `\`requestState\` ${what}`, { fix });
}

function binding({ request, exchange, facts }: ServerCall): string {
  const { _meta, inputResponses, requestState, ...params } = request.params;
  const principal = (exchange.principal ?? exchange.peer?.principal)?.key ?? null;
  const text = canonicalJson([principal, request.method, params]);
  return toBase64Url(facts.platform.sha256(new TextEncoder().encode(text)));
}

/** What is remembered of an error that a step threw: enough to throw one of the same kind in a later round. */
interface StepFailure {
  name: string;
  message: string;
  mcp?: { kind: ErrorKind; code: number; data?: unknown };
  tool?: { content?: ToolError["content"] };
}

/** What to remember of an error. */
export function recordFailure(error: unknown): StepFailure {
  const said = { name: error instanceof Error ? error.name : "Error", message: messageOf(error) };
  if (ToolError.is(error)) return { ...said, tool: { content: error.content } };
  if (!McpError.is(error)) return said;
  const { kind, code, data } = error;
  return { ...said, mcp: { kind, code, data: asJson(data) } };
}

/** The error that a later round throws in place of the first one. */
export function reviveFailure({ name, message, mcp, tool }: StepFailure): Error {
  if (mcp !== undefined) return new McpError(mcp.kind, message, { code: mcp.code, data: mcp.data });
  if (tool !== undefined) return new ToolError(message, tool.content === undefined ? {} : { content: tool.content });
  return Object.assign(new Error(message), { name });
}

/** What JSON cannot hold is left out: the failure itself matters more than what it carries. */
function asJson(data: unknown): unknown {
  try {
    return data === undefined ? undefined : JSON.parse(JSON.stringify(data) ?? "null");
  } catch {
    return undefined;
  }
}
