import { toBase64Url } from "../../encoding/base64.js";
import { canonicalJson } from "../../encoding/canonical-json.js";
import { utf8Bytes } from "../../encoding/json-bytes.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import { McpError } from "../../protocol/error.js";
import type { StepFailure, StepRecord } from "../call/asker.js";
import type { ServerCall } from "../call/server-call.js";
import { ToolError } from "../contract/tool.js";

/** What one round of questions passes to the next. The client keeps it, sealed, as `requestState`. */
export interface QuestionState {
  /** Identifies the call in all its rounds. */
  id: string;
  round: number;
  answers: Record<string, unknown>;
  steps: Record<string, StepRecord>;
  /** Keys of the questions that this round asked. */
  asked: string[];
}

interface Sealed {
  /** When it expires, in milliseconds since the epoch. */
  until: number;
  /** Digest of the caller, the method and the params, so that a state is valid for its own request only. */
  bound: string;
  state: QuestionState;
}

/**
 * Seals a state for the same caller and the same request.
 *
 * Spec: Multi Round-Trip Requests, "Server Requirements (Basic Workflow)",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
 */
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

/** Opens a state from the client. Throws when this server did not seal it for this request, or when it has expired. */
export async function openState(call: ServerCall, sealed: unknown): Promise<QuestionState> {
  const { platform, limits, secrets } = call.facts;
  if (typeof sealed !== "string") throw refused("is not a string", "Send it back unchanged.");
  // Base64 and encryption add about a third.
  if (sealed.length > 2 * limits.stateBytes) throw refused("is too long", "Send it back unchanged.");
  const opened = await secrets.open("state", sealed);
  if ("fault" in opened) {
    const foreign = opened.fault === "foreign";
    throw refused(
      foreign ? "was sealed with another secret" : "was altered",
      foreign ? "Give every process of this server the same `secret`." : "Send it back unchanged.",
    );
  }
  // The seal proves that `sealState` wrote it.
  const { until, bound, state } = JSON.parse(opened.text) as Sealed;
  if (until < platform.now()) throw refused("has expired", "Call again without it.");
  if (bound !== binding(call))
    throw refused("belongs to another request", "Send it only with the request that it was returned for.");
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

/** The record of an error that a step threw. */
export function recordFailure(error: unknown): StepFailure {
  const common = { name: error instanceof Error ? error.name : "Error", message: thrownMessage(error) };
  if (ToolError.is(error)) return { ...common, tool: { content: error.content } };
  if (!McpError.is(error)) return common;
  const { kind, code, data } = error;
  return { ...common, mcp: { kind, code, data: asJson(data) } };
}

/** The error that a later round throws for a recorded failure. */
export function reviveFailure({ name, message, mcp, tool }: StepFailure): Error {
  if (mcp !== undefined) return new McpError(mcp.kind, message, { code: mcp.code, data: mcp.data });
  if (tool !== undefined) return new ToolError(message, tool.content === undefined ? {} : { content: tool.content });
  return Object.assign(new Error(message), { name });
}

/** The data as JSON; undefined when it cannot be written, because the failure matters more than its data. */
export function asJson(data: unknown): unknown {
  try {
    return data === undefined ? undefined : JSON.parse(JSON.stringify(data) ?? "null");
  } catch {
    return undefined;
  }
}
