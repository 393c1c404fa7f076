import type { Accepted } from "../../../era/era.js";
import { sessionRevision, takesBatches } from "../../../era/session.js";
import { INVALID_REQUEST } from "../../../jsonrpc/error.js";
import {
  type Classified,
  classify,
  type NotificationMessage,
  parseMessage,
  type RequestMessage,
} from "../../../jsonrpc/message.js";
import { errorText } from "../../../jsonrpc/message-text.js";
import type { Body } from "./incoming.js";
import { acceptance, contentTypeFault } from "./media-type.js";
import { type Refusal, refusal } from "./refusal.js";
import type { ServerState } from "./state.js";
import { runAlone, runBatchAlone } from "./stateless-exchange.js";
import type { Visit } from "./visit.js";

/** Serves the messages that belong to sessions. */
export interface SessionDesk {
  post(visit: Visit, item: Received): void;
  get(visit: Visit): void;
  delete(visit: Visit): void;
  close(): void;
}

/** What one POST holds: a request comes with what the endpoint says of it. */
export type Received =
  | Exclude<Classified, { kind: "invalid" | "request" }>
  | { readonly kind: "request"; readonly accepted: Accepted };

/** Takes one message, or a batch where the revision knows batches. */
export function handlePost(state: ServerState, sessions: SessionDesk | undefined, visit: Visit): void {
  const fault = headerFault(visit);
  if (fault !== undefined) return visit.refuse(fault);
  visit.incoming.readBody(state.limits.maxMessageBytes, (body) => {
    try {
      received(state, sessions, visit, body);
    } catch (error) {
      visit.broken(error);
    }
  });
}

function headerFault(visit: Visit): Refusal | undefined {
  const fault = bodyFault(visit);
  if (fault !== undefined) return fault;
  const accepted = acceptance(visit.incoming.header("accept"));
  if (accepted.json && accepted.events) return undefined;
  return refusal(406, INVALID_REQUEST, "Accept must list both application/json and text/event-stream");
}

/** Why the body of a request cannot be taken for JSON, by its headers. */
export function bodyFault({ incoming }: Visit): Refusal | undefined {
  const type = contentTypeFault(incoming.header("content-type"));
  if (type !== undefined) return refusal(415, INVALID_REQUEST, type);
  // A body that says it is compressed and is not, or that grows a thousandfold, never gets that far.
  const encoding = incoming.header("content-encoding");
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity") {
    return refusal(415, INVALID_REQUEST, "the body must not be encoded; send it without Content-Encoding");
  }
  return undefined;
}

function received(state: ServerState, sessions: SessionDesk | undefined, visit: Visit, body: Body): void {
  if (!("text" in body)) return visit.refuse(refusal(body.status, body.code, body.reason));
  const item = parseMessage(body.text);
  if (item.kind === "invalid") {
    return visit.refuse(refusal(400, item.code, item.reason, { id: item.id }));
  }
  if (item.kind === "request") {
    const accepted = state.endpoint.accept(item.message, visit.incoming);
    if (!accepted.inSession) return runAlone(state, visit, accepted, true);
    return takeInSession(state, sessions, visit, { kind: "request", accepted });
  }
  if (item.kind === "notification" && !state.endpoint.accept(item.message, visit.incoming).inSession) {
    state.endpoint.notification(item.message);
    return visit.empty(202);
  }
  // Answers and arrays exist in sessions only.
  takeInSession(state, sessions, visit, item);
}

function takeInSession(state: ServerState, sessions: SessionDesk | undefined, visit: Visit, item: Received): void {
  if (sessions === undefined) withoutSession(state, visit, item);
  else sessions.post(visit, item);
}

/** Serves a client that expects a session and gets none: each POST says all there is to know. */
function withoutSession(state: ServerState, visit: Visit, item: Received): void {
  const revision = sessionRevision(visit.incoming.header("mcp-protocol-version"));
  if (revision === undefined) return visit.refuse(unknownVersion(visit));
  if (item.kind === "request") return runAlone(state, visit, item.accepted, false);
  if (item.kind === "notification") {
    state.endpoint.notification(item.message);
    return visit.empty(202);
  }
  if (item.kind === "batch" && takesBatches(revision) && item.items.length > 0) {
    const { requests, notifications, known } = sortBatch(item.items);
    for (const message of notifications) state.endpoint.notification(message);
    if (requests.length + known.length === 0) return visit.empty(202);
    return runBatchAlone(state, visit, requests, known);
  }
  visit.refuse(refusal(400, INVALID_REQUEST, NOT_TAKEN[item.kind === "batch" ? "batch" : "answer"]));
}

const NOT_TAKEN = {
  batch: "an array of messages is not accepted here",
  answer: "an answer was sent, and this server has asked nothing",
};

export function unknownVersion(visit: Visit): Refusal {
  const value = visit.incoming.header("mcp-protocol-version")?.slice(0, 64);
  return refusal(
    400,
    INVALID_REQUEST,
    `MCP-Protocol-Version names no revision with sessions: ${JSON.stringify(value)}`,
  );
}

/** The items of a batch by what has to be done with them. */
export interface SortedBatch {
  requests: RequestMessage[];
  notifications: NotificationMessage[];
  answers: Extract<Classified, { kind: "result" | "error" }>["message"][];
  /** Answers to items that are no messages. */
  known: string[];
}

export function sortBatch(items: readonly unknown[]): SortedBatch {
  const sorted: SortedBatch = { requests: [], notifications: [], answers: [], known: [] };
  for (const item of items) {
    const one = classify(item);
    if (one.kind === "request") sorted.requests.push(one.message);
    else if (one.kind === "notification") sorted.notifications.push(one.message);
    else if (one.kind === "batch") sorted.known.push(errorText(undefined, INVALID_REQUEST, "a batch does not nest"));
    else if (one.kind === "invalid") sorted.known.push(errorText(one.id, one.code, one.reason));
    else sorted.answers.push(one.message);
  }
  return sorted;
}
