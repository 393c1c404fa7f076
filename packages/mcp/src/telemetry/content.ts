import { isObject } from "../jsonrpc/message.js";
import type { Middleware } from "../server/call/middleware.js";
import { type Attributes, cut } from "./attributes.js";
import type { OpenTelemetryApi } from "./open-telemetry-api.js";

/** Longest JSON of arguments or of a result on a span, in characters. */
const LONGEST_CONTENT = 16 * 1024;
/** Most arguments of a prompt that a span gets. */
const MOST_VARIABLES = 32;

/** What a span says of the arguments and the result of a tool or a prompt, in the names of the conventions. */
export function contentAttributes(method: string, params: object | undefined, result: unknown): Attributes {
  const attributes: Attributes = {};
  const { arguments: args } = (params ?? {}) as { arguments?: unknown };
  if (method === "tools/call") {
    addJson(attributes, "gen_ai.tool.call.arguments", args);
    if (isObject(result) && result["isError"] !== true) addJson(attributes, "gen_ai.tool.call.result", result);
  }
  if (method === "prompts/get" && isObject(args)) {
    for (const [name, value] of Object.entries(args).slice(0, MOST_VARIABLES)) {
      attributes[`gen_ai.prompt.variable.${name.slice(0, 128)}`] = cut(
        typeof value === "string" ? value : jsonOf(value),
      );
    }
  }
  return attributes;
}

function addJson(attributes: Attributes, key: string, value: unknown): void {
  if (value === undefined) return;
  attributes[key] = jsonOf(value).slice(0, LONGEST_CONTENT);
}

/** What cannot be written as JSON fails where it is sent, not here. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

/** Middleware that adds arguments and results to the span of a call. */
export function recordCall(api: OpenTelemetryApi): Middleware {
  return async ({ method, params }, next) => {
    const span = api.trace.getSpan(api.context.active());
    if (span?.isRecording() !== true) return next();
    span.setAttributes(contentAttributes(method, params, undefined));
    const result = await next();
    span.setAttributes(contentAttributes(method, undefined, result));
    return result;
  };
}
