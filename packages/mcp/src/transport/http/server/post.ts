import type { Accepted } from "../../../era/era.js";
import { sessionRevision, takesBatches } from "../../../era/session.js";
import { sortBatch } from "../../../jsonrpc/batch.js";
import { INVALID_REQUEST } from "../../../jsonrpc/error.js";
import { parseMessage, type RequestMessage } from "../../../jsonrpc/message.js";
import type { Received, SessionRoutes } from "../session/routes.js";
import type { HttpExchange } from "./exchange.js";
import type { Body } from "./incoming.js";
import { acceptance, contentTypeFault } from "./media-type.js";
import { type Refusal, refusal, unknownVersion } from "./refusal.js";
import { ALONE, type ReplyRules, WITHOUT_SESSION } from "./reply-rules.js";

/** Takes one message, or a batch where the revision knows batches. */
export function handlePost(exchange: HttpExchange, sessions: SessionRoutes | undefined): void {
  const fault = headerFault(exchange);
  if (fault !== undefined) return exchange.refuse(fault);
  exchange.http.readBody(exchange.state.limits.maxMessageBytes, (body) => {
    try {
      received(exchange, sessions, body);
    } catch (error) {
      exchange.broken(error);
    }
  });
}

function headerFault(exchange: HttpExchange): Refusal | undefined {
  const fault = bodyFault(exchange);
  if (fault !== undefined) return fault;
  const accepted = acceptance(exchange.http.protocolHeaders.accept);
  if (accepted.json && accepted.events) return undefined;
  return refusal(406, INVALID_REQUEST, "Accept must list both application/json and text/event-stream");
}

/** Why the body of a request cannot be taken for JSON, by its headers. */
export function bodyFault({ http }: HttpExchange): Refusal | undefined {
  const { contentType, contentEncoding } = http.protocolHeaders;
  const type = contentTypeFault(contentType);
  if (type !== undefined) return refusal(415, INVALID_REQUEST, type);
  // A body that says it is compressed and is not, or that grows a thousandfold, never gets that far.
  if (contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== "identity") {
    return refusal(415, INVALID_REQUEST, "the body must not be encoded; send it without Content-Encoding");
  }
  return undefined;
}

function received(exchange: HttpExchange, sessions: SessionRoutes | undefined, body: Body): void {
  if (!("text" in body)) return exchange.refuse(refusal(body.status, body.code, body.reason));
  const { endpoint } = exchange.state;
  const item = parseMessage(body.text);
  if (item.kind === "invalid") {
    return exchange.refuse(refusal(400, item.code, item.reason, { id: item.id }));
  }
  if (item.kind === "request") {
    const accepted = endpoint.accept(item.message, exchange.http);
    if (!accepted.inSession) return runAlone(exchange, accepted, ALONE);
    if (sessions === undefined) return withoutSession(exchange, { kind: "request", accepted });
    return sessions.post(exchange, { kind: "request", accepted });
  }
  if (item.kind === "notification" && !endpoint.accept(item.message, exchange.http).inSession) {
    endpoint.notification(item.message);
    return exchange.empty(202);
  }
  // Answers and arrays exist in sessions only.
  if (sessions === undefined) withoutSession(exchange, item);
  else sessions.post(exchange, item);
}

/** Serves a client that expects a session and gets none: each POST says all there is to know. */
function withoutSession(exchange: HttpExchange, item: Received): void {
  const { endpoint } = exchange.state;
  const revision = sessionRevision(exchange.http.protocolHeaders.protocolVersion);
  if (revision === undefined) return exchange.refuse(unknownVersion(exchange.http));
  if (item.kind === "request") return runAlone(exchange, item.accepted, WITHOUT_SESSION);
  if (item.kind === "notification") {
    endpoint.notification(item.message);
    return exchange.empty(202);
  }
  if (item.kind === "batch" && takesBatches(revision) && item.items.length > 0) {
    const { requests, notifications, refused } = sortBatch(item.items);
    for (const message of notifications) endpoint.notification(message);
    if (requests.length + refused.length === 0) return exchange.empty(202);
    return runBatch(exchange, requests, refused);
  }
  exchange.refuse(refusal(400, INVALID_REQUEST, NOT_TAKEN[item.kind === "batch" ? "batch" : "answer"]));
}

function runAlone(exchange: HttpExchange, accepted: Accepted, rules: ReplyRules): void {
  const { state } = exchange;
  if (state.inFlight >= state.limits.maxInFlight) return exchange.busy("maxInFlight", accepted.message.id);
  exchange.run(accepted, rules);
}

/** Runs requests that stand alone and share one reply; `refused` are the answers to what was no message. */
function runBatch(exchange: HttpExchange, requests: readonly RequestMessage[], refused: readonly string[]): void {
  const { state } = exchange;
  if (state.inFlight >= state.limits.maxInFlight) return exchange.busy("maxInFlight");
  exchange.beginBatch(requests.length + refused.length, WITHOUT_SESSION);
  for (const text of refused) exchange.answered({ text });
  for (const message of requests) exchange.runInBatch(state.endpoint.accept(message, exchange.http));
}

const NOT_TAKEN = {
  batch: "an array of messages is not accepted here",
  answer: "an answer was sent, and this server has asked nothing",
};
