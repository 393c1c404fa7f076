import { readable } from "../../encoding/thrown-message.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { ElicitRequestURLParams } from "../../protocol/features/elicitation.js";
import { canAsk } from "./can-ask.js";
import type { ServerCall } from "./server-call.js";

/** A page that the user must visit before a request can be served. */
export interface PageToVisit {
  /** Explains to the user why to visit the page. */
  message: string;
  /** The absolute URL of the page. */
  url: string;
  /** Identifies the visit for `ctx.elicitationComplete`. Default: a random id. */
  elicitationId?: string | undefined;
}

/**
 * Creates the error for a request that cannot be served before the user has visited some pages, for example to sign in.
 * Throw the error from a tool, a prompt or a resource. Clients receive it in the form of their revision and call again
 * after the visits.
 *
 * Spec: Elicitation, "URL Elicitation Required Error",
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function urlRequired(visits: readonly PageToVisit[], message = "The user must visit a page first."): McpError {
  const elicitations = visits.map((visit) => ({ mode: "url", ...visit }));
  return new McpError("url_elicitation_required", message, { data: { elicitations } });
}

/** True for an error created by `urlRequired`, and for any other `McpError` of the same kind. */
export function isUrlRequired(thrown: unknown): thrown is McpError {
  const error = readable(thrown);
  return McpError.is(error) && error.kind === "url_elicitation_required";
}

/**
 * Returns the error to send to a client whose revision has this error. Returns undefined if the revision sends
 * questions in interim results instead, if the client cannot show pages, or if the error has no pages.
 */
export function urlRequiredFor(call: ServerCall, error: McpError): McpError | undefined {
  if (call.replays || visitsOf(error).length === 0 || !canAsk(call, "elicitation.url")) return undefined;
  const elicitations = visitsOf(error).map(({ message, url, elicitationId }) => ({
    mode: "url",
    message,
    url,
    elicitationId: elicitationId ?? call.config.randomId(),
  }));
  return new McpError("url_elicitation_required", error.message, { data: { elicitations } });
}

/** The error as text, for a model whose client cannot show pages. */
export function urlRequiredText(error: McpError): string {
  return [error.message, ...visitsOf(error).map(({ message, url }) => `${message}: ${url}`)].join("\n");
}

/** Returns the pages in the error's data. */
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
