import { isThenable } from "../../encoding/maybe-promise.js";
import { readable, thrownMessage } from "../../encoding/thrown-message.js";
import type { Accepted, Call, EncodedAnswer, EraResult, RequestSource } from "../../era/era.js";
import { accepting } from "../../era/select/accepting.js";
import { type Session, usedEarly } from "../../era/session.js";
import { isId, type NotificationMessage } from "../../jsonrpc/message.js";
import { isForCallers, McpError } from "../../protocol/error.js";
import type { Answer, Endpoint, Exchange, Peer } from "../../transport/transport.js";
import { contextOf } from "../questions/call-context.js";
import { asking, withAsking } from "../questions/with-asking.js";
import { endOf, publicFailure } from "./call-failure.js";
import { inLayer } from "./call-layer.js";
import type { ServerFacts } from "./facts.js";
import type { MethodHandler } from "./feature.js";
import { InputOutcome } from "./input-required.js";
import { throughMiddleware } from "./middleware.js";
import type { Pipeline } from "./pipeline.js";
import type { Registry, Route } from "./registry.js";
import { type CallMakers, ExtensionResult, ServerCall } from "./server-call.js";
import { isUrlRequired, urlRequiredFor, urlRequiredInWords } from "./url-required.js";

/** Receives the peers of a server and their notifications; for features whose state lives longer than a call. */
export interface PeerListener extends Partial<Pick<Endpoint, "opened" | "closed" | "sessionChanged">> {
  notification?(message: NotificationMessage, peer: Peer): void;
}

/** The parts of a server that serve a request. */
export interface DispatchingServer {
  readonly facts: ServerFacts;
  readonly registry: Registry;
  readonly pipeline: Pipeline;
}

export const MAKERS: CallMakers = { context: contextOf, asker: (call) => asking().askerOf(call) };

/** Creates the endpoint through which every request of every transport and revision passes. */
export function createEndpoint(server: DispatchingServer, listeners: readonly PeerListener[]): Endpoint {
  const { info, revisions, options } = server.facts;
  return {
    ...{ name: info.name, revisions, storage: options.storage, ...server.pipeline.places },
    get endsObjects() {
      return server.pipeline.endsObjects;
    },
    sessionless: () => server.registry.sessionless(),
    accept: accepting(server.facts.methods),
    request: (accepted, exchange) => dispatch(server, accepted, exchange),
    notification(message, peer) {
      if (peer === undefined) return;
      receiveNotification(message, peer);
      for (const listener of listeners) listener.notification?.(message, peer);
    },
    opened(peer) {
      for (const listener of listeners) listener.opened?.(peer);
    },
    closed(peer) {
      for (const listener of listeners) listener.closed?.(peer);
    },
    async sessionChanged(peer, missed) {
      for (const listener of listeners) await listener.sessionChanged?.(peer, missed);
    },
    senderRefused: ({ status, reason }) => server.pipeline.senderRefused({ status, reason }),
    onClosed: (act) => void server.pipeline.closers.push(act),
  };
}

/**
 * Spec: Cancellation, "Error Handling": a cancellation that is malformed or too late is ignored.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#error-handling
 */
function receiveNotification({ method, params }: NotificationMessage, peer: Peer): void {
  if (method === "notifications/cancelled") {
    const id = params?.["requestId"];
    const reason = params?.["reason"];
    const why = typeof reason === "string" ? `: ${reason}` : "";
    if (isId(id)) peer.abort(id, new McpError("cancelled", `the client cancelled${why}`));
  } else if (method === "notifications/initialized" && peer.session !== undefined) {
    peer.session.initialized = true;
    peer.sessionChanged?.();
  }
}

function dispatch(
  server: DispatchingServer,
  { message, era, opensSession }: Accepted,
  exchange: Exchange,
): Answer | Promise<Answer> {
  const { facts, registry, pipeline } = server;
  let call: ServerCall;
  let route: Route;
  try {
    const source: RequestSource = {
      session: exchange.peer?.session,
      http: exchange.http,
      batched: exchange.batched === true,
      opensSession,
    };
    const request = era.decode(message, source, registry.self);
    if (source.session?.initialized === false) servedEarly(server, request.method, exchange.peer);
    const resolved =
      request.own === undefined
        ? registry.route(request.method, request.revision)
        : eraRoute(server, request.method, request.own);
    if (resolved === undefined) throw unknownMethod(request, registry);
    route = resolved;
    call = new ServerCall(facts, request, route.row, exchange, MAKERS);
    call.straight = pipeline.middleware.length === 0;
    // What has an HTTP status of its own is decided before anything slow makes the reply a stream.
    if (exchange.http !== undefined) route.check?.(call);
  } catch (error) {
    if (pipeline.observers.length > 0) pipeline.refused(message.method, message.id, error);
    return era.refusal(message.id, McpError.from(error));
  }
  if (pipeline.observers.length === 0) return open(server, call, route);
  return pipeline.observed(call, () => open(server, call, route));
}

/** Waits for the server's preparation, if it has any, and then serves the call. */
function open(server: DispatchingServer, call: ServerCall, route: Route): Answer | Promise<Answer> {
  const { gate } = server.pipeline;
  if (gate === undefined) return invoke(server, call, route);
  return inLayer(call, "preparation", gate).then(
    () => invoke(server, call, route),
    (error) => failure(server, call, error),
  );
}

function eraRoute({ registry, pipeline }: DispatchingServer, method: string, own: EraResult): Route | undefined {
  const row = registry.self.methods.get(method);
  return row && { row, handler: (call) => settleOwn(call, own, pipeline), check: undefined, around: undefined };
}

function unknownMethod(request: Call, registry: Registry): McpError {
  const known = registry.self.methods.get(request.method) !== undefined;
  const why = known ? `is not offered by this server in ${request.revision}` : "does not exist";
  return new McpError("method_not_found", `the method "${request.method}" ${why}`);
}

function servedEarly({ facts, pipeline }: DispatchingServer, method: string, peer: Peer | undefined): void {
  if (peer?.session === undefined || !usedEarly(peer.session, method, facts.options.earlyRequests)) return;
  peer.sessionChanged?.();
  if (pipeline.warnedOfEarlyRequests) return;
  pipeline.warnedOfEarlyRequests = true;
  facts.platform.warn(
    `a client sent "${method}" before \`notifications/initialized\`: it is served, but gets neither questions nor notifications until then`,
  );
}

function settleOwn(call: ServerCall, own: EraResult, pipeline: Pipeline): object | Promise<object> {
  if (own.session !== undefined) checkClientLength(own.session, call.facts.limits.clientLength);
  call.session = own.session;
  if (own.cache !== undefined) call.cache = own.cache;
  if (own.session === undefined || pipeline.sessionOpening === undefined) return own.result;
  return pipeline.sessionOpening(call).then(() => own.result);
}

/** Kept for every session, so that a few large ones would take the place of all others. */
function checkClientLength({ clientInfo, clientCapabilities }: Session, limit: number): void {
  if (JSON.stringify([clientInfo, clientCapabilities]).length <= limit) return;
  throw new McpError("invalid_params", `\`clientInfo\` and \`capabilities\` are longer than ${limit} characters`, {
    data: { limit: "clientLength", value: limit },
    fix: "Send less, or raise `limits.clientLength` of the server.",
  });
}

function invoke(server: DispatchingServer, call: ServerCall, route: Route): Answer | Promise<Answer> {
  const { limits } = server.pipeline;
  let outcome: object | Promise<object>;
  try {
    outcome = limits === undefined ? serve(server, call, route) : limits(call, () => serve(server, call, route));
  } catch (error) {
    return failure(server, call, error);
  }
  if (!isThenable(outcome)) return success(server, call, outcome);
  return Promise.resolve(outcome).then(
    (result) => success(server, call, result),
    (error) => failure(server, call, error),
  );
}

/** Runs the handler inside what extensions do around it. */
function serve(server: DispatchingServer, call: ServerCall, { handler, around }: Route): object | Promise<object> {
  if (around === undefined) return perform(server, call, handler);
  return inLayer(call, "extensions", () => around(call, () => perform(server, call, handler)));
}

/** Runs the handler inside all middleware. */
export function perform(server: DispatchingServer, call: ServerCall, handler: MethodHandler): object | Promise<object> {
  const { middleware } = server.pipeline;
  if (middleware.length === 0 && call.followers === undefined) return execute(call, handler);
  const innermost = () => inLayer(call, "handler", () => execute(call, handler), call.row.method);
  return middleware.length === 0 ? innermost() : throughMiddleware(middleware, call, innermost);
}

/**
 * Runs the handler; by replay in revisions where questions are part of an interim result.
 *
 * Spec: Multi Round-Trip Requests, https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
function execute(call: ServerCall, handler: MethodHandler): object | Promise<object> {
  if (call.row.mayAsk !== true || !call.replays) return handler(call);
  if (call.request.inputs === undefined) return interruptible(call, handler);
  return withAsking(({ openReplay }) => openReplay(call)).then((replay) => {
    call.useAsker(replay);
    return interruptible(call, handler);
  });
}

/** The handler's outcome, or the interim result when one of its questions has no answer yet. */
function interruptible(call: ServerCall, handler: MethodHandler): object | Promise<object> {
  const started = start(call, handler);
  if (!isThenable(started)) return started;
  const running = Promise.resolve(started);
  return new Promise((resolve, reject) => {
    let interrupted = false;
    call.interrupt = () => {
      interrupted = true;
      call.asker
        .conclude(running)
        .finally(() => call.release?.())
        .then((interim) => {
          call.interim = interim;
          resolve(interim);
        }, reject);
    };
    const failed = (error: unknown) => {
      if (interrupted) return;
      // A page that the user must visit first becomes a question like any other.
      if (!isUrlRequired(error)) return reject(error);
      withAsking(({ askForVisits }) => askForVisits(call, error)).catch((refused) => interrupted || reject(refused));
    };
    running.then((result) => interrupted || resolve(result), failed);
  });
}

/** Calls the handler. An error that becomes a question is returned as a rejection, so that there is one way to treat it. */
function start(call: ServerCall, handler: MethodHandler): object | Promise<object> {
  try {
    return handler(call);
  } catch (error) {
    if (isUrlRequired(error)) return Promise.reject(error);
    throw error;
  }
}

function success({ registry, pipeline }: DispatchingServer, call: ServerCall, result: object): Answer {
  const { request, row } = call;
  const interim = result instanceof InputOutcome ? result : call.interim;
  const { self } = registry;
  if (call.beforeAnswer !== undefined) for (const act of call.beforeAnswer) act(true);
  try {
    const encoded: EncodedAnswer =
      interim !== undefined
        ? request.era.input(request, interim.questions, interim.state, self)
        : result instanceof ExtensionResult
          ? request.era.extended(request, result.resultType, result.members, self)
          : request.era.result(request, result, row, self, call.cache);
    if (pipeline.observers.length > 0) call.end = endOf(call, { result });
    const { session, sessionEnded } = call;
    return session === undefined ? encoded : { ...encoded, session, sessionEnded };
  } catch (error) {
    return failure({ pipeline }, call, error);
  }
}

function failure({ pipeline }: Pick<DispatchingServer, "pipeline">, call: ServerCall, error: unknown): Answer {
  if (call.beforeAnswer !== undefined) for (const act of call.beforeAnswer) act(false);
  void call.sessionEnded?.("refused");
  if (pipeline.observers.length > 0) call.end = endOf(call, { error });
  const answer = errorAnswer(call, publicError(call, error));
  const { scopes, limited } = call;
  return scopes === undefined && limited === undefined ? answer : { ...answer, scopes, ...limited };
}

function errorAnswer({ request }: ServerCall, error: McpError): EncodedAnswer {
  try {
    return request.era.failure(request, error);
  } catch {
    // The error's data cannot be written as JSON; the client must get the error all the same.
    const { kind, code } = error;
    return request.era.failure(request, new McpError(kind, thrownMessage(error), { code }));
  }
}

/** The error that the client gets: one that is meant for it unchanged, of any other the message at most. Reports the latter. */
export function publicError(call: ServerCall, thrown: unknown): McpError {
  const error = readable(thrown);
  if (isUrlRequired(error)) {
    return urlRequiredFor(call, error) ?? new McpError("internal_error", urlRequiredInWords(error));
  }
  if (McpError.is(error) && isForCallers(error)) {
    // The handler's author must hear of it, and `fix` is not sent.
    if (error.kind === "misuse") call.facts.warnOnce(`${withCause(error)}. ${error.fix}`);
    return error;
  }
  const { message, data } = publicFailure(call, error);
  return new McpError("internal_error", message, { data });
}

/** The message, with that of the cause, which is for the log only. */
function withCause({ message, cause }: McpError): string {
  return cause === undefined ? message : `${message}: ${thrownMessage(cause)}`;
}
