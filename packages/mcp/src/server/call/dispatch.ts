import type { Accepted, Call, EncodedAnswer, Lifecycle, Origin } from "../../era/era.js";
import { accepting } from "../../era/select.js";
import { isId, type NotificationMessage } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { Answer, Endpoint, Exchange, Peer } from "../../transport/transport.js";
import type { MethodHandler } from "../lists/feature.js";
import type { Registry, Route } from "../lists/registry.js";
import { throughMiddleware } from "../middleware.js";
import { openReplay, Replay } from "../questions/by-replay.js";
import { requestAsker } from "../questions/by-request.js";
import { InputOutcome } from "../questions/interruption.js";
import { askForVisits, isUrlRequired, urlRequiredFor } from "../questions/url-required.js";
import { CallContext } from "./call-context.js";
import type { ServerFacts } from "./facts.js";
import type { Pipeline } from "./pipeline.js";
import { type CallMakers, ServerCall } from "./server-call.js";
import { messageOf, readable } from "./thrown.js";

/** Hears about peers and their notifications; features use it for what lives longer than a call. */
export interface PeerListener {
  opened?(peer: Peer): void;
  closed?(peer: Peer): void;
  notification?(message: NotificationMessage, peer: Peer): void;
}

/** What dispatch needs of a server. */
export interface Dispatching {
  readonly facts: ServerFacts;
  readonly registry: Registry;
  readonly pipeline: Pipeline;
}

const MAKERS: CallMakers = {
  context: (call) => new CallContext(call),
  asker: (call) => (call.call.era.asks === "replay" ? new Replay(call, undefined, {}) : requestAsker(call)),
};

/** The one path in and back: every request of every transport and revision goes through here. */
export function createEndpoint(server: Dispatching, listeners: readonly PeerListener[]): Endpoint {
  return {
    revisions: server.facts.revisions,
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
  };
}

function receiveNotification({ method, params }: NotificationMessage, peer: Peer): void {
  if (method === "notifications/cancelled") {
    const id = params?.["requestId"];
    const reason = params?.["reason"];
    if (isId(id))
      peer.abort(
        id,
        new McpError("cancelled", `the client cancelled${typeof reason === "string" ? `: ${reason}` : ""}`),
      );
  } else if (method === "notifications/initialized" && peer.session !== undefined) {
    peer.session.initialized = true;
    peer.sessionChanged?.();
  }
}

function dispatch(server: Dispatching, { message, era }: Accepted, exchange: Exchange): Answer | Promise<Answer> {
  const { facts, registry, pipeline } = server;
  let run: ServerCall;
  let route: Route;
  try {
    const origin: Origin = { session: exchange.peer?.session, http: exchange.http, batched: exchange.batched === true };
    const call = era.decode(message, origin, registry.self);
    const own = era.lifecycle(call, registry.self, origin);
    route = own === undefined ? routeOf(registry, call) : lifecycleRoute(registry, call, own);
    run = new ServerCall(facts, call, route.row, exchange, MAKERS);
    run.straight = pipeline.middleware.length === 0;
  } catch (error) {
    if (pipeline.observers.length > 0) pipeline.refused(message.method, message.id, error);
    return era.error(message.id, McpError.from(error), true);
  }
  if (pipeline.observers.length === 0) return open(server, run, route.handler);
  return pipeline.observed(run, () => open(server, run, route.handler));
}

/** Waits for what the server has to prepare, once. */
function open(server: Dispatching, run: ServerCall, handler: MethodHandler): Answer | Promise<Answer> {
  const { gate } = server.pipeline;
  if (gate === undefined) return invoke(server, run, handler);
  return gate().then(
    () => invoke(server, run, handler),
    (error) => failure(server, run, error),
  );
}

function routeOf(registry: Registry, call: Call): Route {
  const route = registry.route(call.method, call.revision);
  if (route === undefined) throw unknownMethod(call, registry);
  return route;
}

function lifecycleRoute(registry: Registry, call: Call, own: Lifecycle): Route {
  const row = registry.self.methods.get(call.method);
  if (row === undefined) throw unknownMethod(call, registry);
  return { row, handler: (run) => settleLifecycle(run, own) };
}

function unknownMethod(call: Call, registry: Registry): McpError {
  const known = registry.self.methods.get(call.method) !== undefined;
  const why = known ? `is not offered here in ${call.revision}` : "does not exist";
  return new McpError("method_not_found", `the method "${call.method}" ${why}`);
}

function settleLifecycle(run: ServerCall, own: Lifecycle): object {
  run.opens = own.opens;
  if (own.cache !== undefined) run.cache = own.cache;
  return own.result;
}

function invoke(server: Dispatching, run: ServerCall, handler: MethodHandler): Answer | Promise<Answer> {
  let outcome: object | Promise<object>;
  try {
    const stack = server.pipeline.middleware;
    outcome = stack.length === 0 ? execute(run, handler) : throughMiddleware(stack, run, () => execute(run, handler));
  } catch (error) {
    return failure(server, run, error);
  }
  if (!(outcome instanceof Promise)) return success(server, run, outcome);
  return outcome.then(
    (result) => success(server, run, result),
    (error) => failure(server, run, error),
  );
}

/** Runs the handler, by replay where this era asks by interim results. */
function execute(run: ServerCall, handler: MethodHandler): object | Promise<object> {
  if (run.row.mayAsk !== true || run.call.era.asks !== "replay") return handler(run);
  if (run.call.inputs === undefined) return interruptible(run, handler);
  return openReplay(run).then((replay) => {
    run.useAsker(replay);
    return interruptible(run, handler);
  });
}

/** The handler's own outcome, or the interim result when one of its questions has no answer yet. */
function interruptible(run: ServerCall, handler: MethodHandler): object | Promise<object> {
  const running = start(run, handler);
  if (!(running instanceof Promise)) return running;
  return new Promise((resolve, reject) => {
    let interrupted = false;
    run.interrupt = () => {
      interrupted = true;
      run.asker
        .conclude(running)
        .finally(() => run.interrupted())
        .then(resolve, reject);
    };
    const failed = (error: unknown) => {
      if (interrupted) return;
      // A page that the user must visit first is a question too, and interrupts as any other.
      if (isUrlRequired(error)) askForVisits(run, error).catch((refused) => interrupted || reject(refused));
      else reject(error);
    };
    running.then((result) => interrupted || resolve(result), failed);
  });
}

/** What the handler gives; an error that becomes a question is a promise like any other. */
function start(run: ServerCall, handler: MethodHandler): object | Promise<object> {
  try {
    return handler(run);
  } catch (error) {
    if (isUrlRequired(error)) return Promise.reject(error);
    throw error;
  }
}

function success({ registry, pipeline }: Dispatching, run: ServerCall, result: object): Answer {
  const { call, row } = run;
  const { self } = registry;
  run.finish();
  try {
    const encoded: EncodedAnswer =
      result instanceof InputOutcome
        ? call.era.input(call, result.questions, result.state, self)
        : call.era.result(call, result, row, self, run.cache);
    if (pipeline.observers.length > 0) run.end = { outcome: outcomeOf(result), error: run.failure };
    return run.opens === undefined ? encoded : { ...encoded, opens: run.opens };
  } catch (error) {
    return failure({ pipeline }, run, error);
  }
}

function outcomeOf(result: object): "ok" | "tool_error" | "input_required" {
  if (result instanceof InputOutcome) return "input_required";
  return (result as { isError?: unknown }).isError === true ? "tool_error" : "ok";
}

function failure({ pipeline }: Pick<Dispatching, "pipeline">, run: ServerCall, error: unknown): Answer {
  run.finish();
  if (pipeline.observers.length > 0) run.end = { outcome: "error", error };
  const answer = errorAnswer(run, publicError(run, error));
  return run.scopes === undefined ? answer : { ...answer, scopes: run.scopes };
}

function errorAnswer({ call }: ServerCall, error: McpError): EncodedAnswer {
  try {
    return call.era.error(call.id, error, false, call.features);
  } catch {
    // A handler's error may carry data that JSON cannot hold; what happened must be told all the same.
    const { kind, code } = error;
    return call.era.error(call.id, new McpError(kind, messageOf(error), { code }), false, call.features);
  }
}

/** What the peer may know of a failure: an `McpError` as it is, of anything else its message at most. */
function publicError(run: ServerCall, thrown: unknown): McpError {
  const error = readable(thrown);
  if (isUrlRequired(error)) return urlRequiredFor(run, error) ?? error;
  if (McpError.is(error)) return error;
  if (run.facts.options.maskErrors === true) return new McpError("internal_error", run.facts.mask(error));
  return new McpError("internal_error", error instanceof Error ? messageOf(error) : "the request failed");
}
