import type { MessageEra } from "./contender.js";

/** The revision in which each form of messages is sent; of the older era one that every peer knows. */
export const REVISION: Record<MessageEra, string> = { "2025": "2025-06-18", "2026": "2026-07-28" };

const CLIENT = { name: "bench", version: "1.0.0" };

const META = {
  "io.modelcontextprotocol/protocolVersion": REVISION["2026"],
  "io.modelcontextprotocol/clientInfo": CLIENT,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** The whole text of a request. */
export function requestText(era: MessageEra, id: number, method: string, params: object): string {
  const whole = era === "2026" ? { ...params, _meta: META } : params;
  return JSON.stringify({ jsonrpc: "2.0", id, method, params: whole });
}

/** The call that nearly all rows measure: a tool that adds two numbers. */
export function callText(era: MessageEra, id: number): string {
  return requestText(era, id, "tools/call", { name: "add", arguments: { a: 1, b: 2 } });
}

/** The same call by somebody who wants to hear of progress, which a tool that reports it answers by a stream. */
export function stepsText(era: MessageEra, id: number): string {
  const _meta = { ...(era === "2026" ? META : {}), progressToken: "steps" };
  const params = { name: "add", arguments: { a: 1, b: 2 }, _meta };
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
}

/** The resource whose changes are told. */
export const WATCHED = "file:///docs/watched.txt";

export const initializeText = requestText("2025", 1, "initialize", {
  protocolVersion: REVISION["2025"],
  capabilities: {},
  clientInfo: CLIENT,
});

export const initializedText = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });

/** What HTTP says outside the body. */
export function requestHeaders(era: MessageEra, method: string, name?: string): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": REVISION[era],
    ...(era === "2026" ? { "mcp-method": method } : {}),
    ...(era === "2026" && name !== undefined ? { "mcp-name": name } : {}),
  };
}

/** Fails unless `text` holds the one right answer: figures of refusals would be worthless. */
export function assertSum(text: string, who: string): void {
  if (!/"text":\s*"3"/.test(text) || text.includes('"error"')) {
    throw new Error(`${who} gave no sum: ${text.slice(0, 300)}`);
  }
}
