import type { Accepted, Call, EncodedAnswer, Lifecycle, Origin } from "../../era/era.js";
import { accepting } from "../../era/select.js";
import { isId, type NotificationMessage } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { Answer, Endpoint, Exchange, Peer } from "../../transport/transport.js";
import type { MethodHandler } from "../lists/feature.js";
import { throughMiddleware } from "../middleware.js";
import { observed, refused } from "../observer.js";
import { openReplay } from "../questions/by-replay.js";
import { InputOutcome } from "../questions/interruption.js";
import { askForVisits, isUrlRequired, urlRequiredFor } from "../questions/url-required.js";
import type { Route, ServerCore } from "./core.js";
import { Run } from "./server-call.js";
import { messageOf, readable } from "./thrown.js";

/** Hears about peers and their notifications; features use it for what lives longer than a call. */
export interface PeerListener {
  opened?(peer: Peer): void;
  closed?(peer: Peer): void;
  notification?(message: NotificationMessage, peer: Peer): void;
}

/** The one path in and back: every request of every transport and revision goes through here. */
export function createEndpoint(core: ServerCore, listeners: readonly PeerListener[]): Endpoint {
  return {
    revisions: core.self.revisions,
    accept: accepting(core.methods),
    request: (accepted, exchange) => dispatch(core, accepted, exchange),
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

function dispatch(core: ServerCore, { message, era }: Accepted, exchange: Exchange): Answer | Promise<Answer> {
  let run: Run;
  let route: Route;
  try {
    const origin: Origin = { session: exchange.peer?.session, http: exchange.http, batched: exchange.batched === true };
    const call = era.decode(message, origin, core.self);
    const own = era.lifecycle(call, core.self, origin);
    route = own === undefined ? routeOf(core, call) : lifecycleRoute(core, call, own);
    run = new Run(core, call, route.row, exchange);
  } catch (error) {
    if (core.observers.length > 0) refused(core, message.method, message.id, error);
    return era.error(message.id, McpError.from(error), true);
  }
  return core.observers.length === 0 ? open(run, route.handler) : observed(run, () => open(run, route.handler));
}

/** Waits for what the server has to prepare, once. */
function open(run: Run, handler: MethodHandler): Answer | Promise<Answer> {
  const { gate } = run.core;
  if (gate === undefined) return invoke(run, handler);
  return gate().then(
    () => invoke(run, handler),
    (error) => failure(run, error),
  );
}

function routeOf(core: ServerCore, call: Call): Route {
  const route = core.route(call.method, call.revision);
  if (route === undefined) throw unknownMethod(call, core);
  return route;
}

function lifecycleRoute(core: ServerCore, call: Call, own: Lifecycle): Route {
  const row = core.methods.get(call.method);
  if (row === undefined) throw unknownMethod(call, core);
  return { row, handler: (run) => settleLifecycle(run, own) };
}

function unknownMethod(call: Call, core: ServerCore): McpError {
  const known = core.methods.get(call.method) !== undefined;
  const why = known ? `is not offered here in ${call.revision}` : "does not exist";
  return new McpError("method_not_found", `the method "${call.method}" ${why}`);
}

function settleLifecycle(run: Run, own: Lifecycle): object {
  run.opens = own.opens;
  if (own.cache !== undefined) run.cache = own.cache;
  return own.result;
}

function invoke(run: Run, handler: MethodHandler): Answer | Promise<Answer> {
  let outcome: object | Promise<object>;
  try {
    const stack = run.core.middleware;
    outcome = stack.length === 0 ? execute(run, handler) : throughMiddleware(stack, run, () => execute(run, handler));
  } catch (error) {
    return failure(run, error);
  }
  if (!(outcome instanceof Promise)) return success(run, outcome);
  return outcome.then(
    (result) => success(run, result),
    (error) => failure(run, error),
  );
}

/** Runs the handler, by replay where this era asks by interim results. */
function execute(run: Run, handler: MethodHandler): object | Promise<object> {
  if (run.row.mayAsk !== true || run.call.era.asks !== "replay") return handler(run);
  if (run.call.inputs === undefined) return interruptible(run, handler);
  return openReplay(run).then((replay) => {
    run.useAsker(replay);
    return interruptible(run, handler);
  });
}

/** The handler's own outcome, or the interim result when one of its questions has no answer yet. */
function interruptible(run: Run, handler: MethodHandler): object | Promise<object> {
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
function start(run: Run, handler: MethodHandler): object | Promise<object> {
  try {
    return handler(run);
  } catch (error) {
    if (isUrlRequired(error)) return Promise.reject(error);
    throw error;
  }
}

function success(run: Run, result: object): Answer {
  const { call, row, core } = run;
  run.flush();
  run.withdraw();
  try {
    const encoded: EncodedAnswer =
      result instanceof InputOutcome
        ? call.era.input(call, result.questions, result.state, core.self)
        : call.era.result(call, result, row, core.self, run.cache);
    if (core.observers.length > 0) run.end = { outcome: outcomeOf(result), error: run.failure };
    return run.opens === undefined ? encoded : { ...encoded, opens: run.opens };
  } catch (error) {
    return failure(run, error);
  }
}

function outcomeOf(result: object): "ok" | "tool_error" | "input_required" {
  if (result instanceof InputOutcome) return "input_required";
  return (result as { isError?: unknown }).isError === true ? "tool_error" : "ok";
}

function failure(run: Run, error: unknown): Answer {
  run.flush();
  run.withdraw();
  if (run.core.observers.length > 0) run.end = { outcome: "error", error };
  const answer = errorAnswer(run, publicError(run, error));
  return run.scopes === undefined ? answer : { ...answer, scopes: run.scopes };
}

function errorAnswer({ call }: Run, error: McpError): EncodedAnswer {
  try {
    return call.era.error(call.id, error, false, call.features);
  } catch {
    // A handler's error may carry data that JSON cannot hold; what happened must be told all the same.
    const { kind, code } = error;
    return call.era.error(call.id, new McpError(kind, messageOf(error), { code }), false, call.features);
  }
}

/** What the peer may know of a failure: an `McpError` as it is, of anything else its message at most. */
function publicError(run: Run, thrown: unknown): McpError {
  const error = readable(thrown);
  if (isUrlRequired(error)) return urlRequiredFor(run, error) ?? error;
  if (McpError.is(error)) return error;
  if (run.core.options.maskErrors === true) return new McpError("internal_error", run.core.mask(error));
  return new McpError("internal_error", error instanceof Error ? messageOf(error) : "the request failed");
}
