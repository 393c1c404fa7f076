import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { ElicitRequestURLParams } from "../../protocol/features/elicitation.js";
import type { ServerCall } from "../call/server-call.js";
import { readable } from "../call/thrown.js";
import { canAsk } from "./can-ask.js";

/** A page that the user must visit before a request can be served. */
export interface PageToVisit {
  message: string;
  url: string;
  /** Names the visit, for `ctx.elicitationComplete`; made up when absent. */
  elicitationId?: string | undefined;
}

/**
 * The error for a request that cannot be served before the user has visited some pages, for example to sign in somewhere.
 * Throw it from a tool, a prompt or a resource: clients are told in the way of their revision, and call again.
 */
export function urlRequired(visits: readonly PageToVisit[], message = "The user must visit a page first."): McpError {
  const elicitations = visits.map((visit) => ({ mode: "url", ...visit }));
  return new McpError("url_elicitation_required", message, { data: { elicitations } });
}

/** True for that error, also one that was built by hand. */
export function isUrlRequired(thrown: unknown): thrown is McpError {
  const error = readable(thrown);
  return McpError.is(error) && error.kind === "url_elicitation_required";
}

/** The same error as the client of this call understands it; undefined when it has no way to visit pages. */
export function urlRequiredFor(call: ServerCall, error: McpError): McpError | undefined {
  if (call.replays || !canAsk(call, "elicitation.url")) return undefined;
  const elicitations = visitsOf(error).map(({ message, url, elicitationId }) => ({
    mode: "url",
    message,
    url,
    elicitationId: elicitationId ?? call.facts.randomId(),
  }));
  return new McpError("url_elicitation_required", error.message, { data: { elicitations } });
}

/** The same in words, for a model whose client has no way to visit pages. */
export function urlRequiredInWords(error: McpError): string {
  return [error.message, ...visitsOf(error).map(({ message, url }) => `${message}: ${url}`)].join("\n");
}

/** The pages that the error names. */
export function visitsOf({ data }: McpError): Pick<ElicitRequestURLParams, "message" | "url" | "elicitationId">[] {
  const elicitations = isObject(data) ? data["elicitations"] : undefined;
  if (!Array.isArray(elicitations)) return [];
  return elicitations.flatMap((visit: unknown) => {
    if (!isObject(visit)) return [];
    const { message, url, elicitationId } = visit;
    if (typeof message !== "string" || typeof url !== "string") return [];
    return [{ message, url, ...(typeof elicitationId === "string" ? { elicitationId } : {}) }];
  });
}
