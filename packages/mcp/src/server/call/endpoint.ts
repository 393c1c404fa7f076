import { isThenable, type MaybePromise } from "../../encoding/maybe-promise.js";
import { readable, thrownMessage } from "../../encoding/thrown-message.js";
import type { Accepted, Call, EncodedAnswer, EraResult } from "../../era/era.js";
import { accepting } from "../../era/select/accepting.js";
import { recordEarlyRequest, type Session } from "../../era/session.js";
import { isId, type NotificationMessage } from "../../jsonrpc/message.js";
import { isForCallers, McpError } from "../../protocol/error.js";
import { checkSend } from "../../transport/check-send.js";
import type { Answer, Endpoint, Exchange, Peer } from "../../transport/transport.js";
import { InputOutcome } from "./asker.js";
import { endOf, nameOf, publicFailure } from "./call-failure.js";
import type { LayerStep, Layers, Route } from "./layers.js";
import type { Observers } from "./observers.js";
import { type CallOwner, ExtensionResult, type MethodHandler, ServerCall } from "./server-call.js";
import { isUrlRequired, urlRequiredFor, urlRequiredText } from "./url-required.js";

/** The parts of a server that serve requests. */
export interface ServerCore extends CallOwner {
  readonly layers: Layers;
  readonly observers: Observers;
}

/** Creates the endpoint that serves every request of every transport and revision. */
export function createEndpoint(core: ServerCore): Endpoint {
  const { config, layers, observers } = core;
  const { info, revisions, options } = config;
  const early = new EarlyRequests(core);
  return {
    ...{ name: info.name, info, revisions, storage: options.storage },
    ...(Object.assign({}, ...layers.all().map(({ places }) => places)) as object),
    get endsObjects() {
      return layers.all().some(({ endsObjects }) => endsObjects);
    },
    sessionless: () => layers.sessionless(),
    accept: accepting(config.methods),
    request: (accepted, exchange) => dispatch(core, early, accepted, exchange),
    notification(message, peer) {
      if (peer === undefined) return;
      receiveNotification(message, peer);
      for (const layer of layers.all()) layer.notification?.(message, peer);
    },
    opened(peer) {
      checkSend("Peer", peer);
      for (const layer of layers.all()) layer.opened?.(peer);
    },
    closed(peer) {
      for (const layer of layers.all()) layer.closed?.(peer);
    },
    async sessionChanged(peer, missed) {
      for (const layer of layers.all()) await layer.sessionChanged?.(peer, missed);
    },
    senderRefused: ({ status, reason }) => observers.senderRefused({ status, reason }),
    onClosed: (close) => layers.add({ name: "transport", stage: "served", close: async () => close() }),
  };
}

/**
 * Handles two notifications: `cancelled` aborts the request, and `initialized` marks the session as initialized.
 *
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

/** Records requests that arrive before `notifications/initialized`. */
class EarlyRequests {
  readonly #core: ServerCore;
  #warned = false;

  constructor(core: ServerCore) {
    this.#core = core;
  }

  record(method: string, peer: Peer | undefined): void {
    const { options, platform } = this.#core.config;
    if (peer?.session === undefined || !recordEarlyRequest(peer.session, method, options.earlyRequests)) return;
    peer.sessionChanged?.();
    if (this.#warned) return;
    // Warns once, because careless clients send many such requests.
    this.#warned = true;
    platform.warn(
      `a client sent "${method}" before \`notifications/initialized\`: the request is served, but the client receives no questions or notifications until then`,
    );
  }
}

function dispatch(
  core: ServerCore,
  early: EarlyRequests,
  { message, era, opensSession }: Accepted,
  exchange: Exchange,
): Answer | Promise<Answer> {
  const { layers } = core;
  let call: ServerCall;
  let route: Route;
  try {
    const session = exchange.peer?.session;
    const { http, batched = false } = exchange;
    const request = era.decode(message, { session, http, batched, opensSession }, layers.self);
    if (session?.initialized === false) early.record(request.method, exchange.peer);
    const resolved =
      request.eraResult === undefined
        ? layers.route(request.method, request.revision)
        : eraRoute(core, request.method, request.eraResult);
    if (resolved === undefined) throw unknownMethod(request, core);
    route = resolved;
    call = new ServerCall(core, request, route.row, exchange);
    // Checked before anything slow: once the response has become a stream, an error can no longer set the HTTP status.
    if (http !== undefined) route.check?.(call);
  } catch (error) {
    core.observers.refused(message.method, message.id, error);
    return era.refusal(message.id, McpError.from(error));
  }
  let outcome: MaybePromise<object>;
  try {
    const [only, another] = route.steps;
    // Fast path: most servers have one layer around a handler.
    const isOne = only !== undefined && another === undefined;
    outcome = isOne ? only.around(call, route.handler) : runCall(route.steps, call, route.handler);
  } catch (error) {
    return failure(call, error);
  }
  if (!isThenable(outcome)) return success(core, call, outcome);
  return Promise.resolve(outcome).then(
    (result) => success(core, call, result),
    (error) => failure(call, error),
  );
}

function eraRoute({ layers }: ServerCore, method: string, own: EraResult): Route | undefined {
  const row = layers.self.methods.get(method);
  return row && { row, handler: (call) => settleOwn(call, own), check: undefined, steps: layers.stepsOf(method) };
}

function unknownMethod({ method, revision }: Call, { layers }: ServerCore): McpError {
  const known = layers.self.methods.get(method) !== undefined;
  const why = known ? `is not offered by this server in ${revision}` : "does not exist";
  return new McpError("method_not_found", `the method "${method}" ${why}`);
}

function settleOwn(call: ServerCall, { session, cache, result }: EraResult): object {
  if (session !== undefined) {
    checkClientLength(session, call.config.limits.clientLength);
    call.reply = { session };
  }
  if (cache !== undefined) call.cache = cache;
  return result;
}

/** Limits the data that is stored for each session, so that a few large sessions do not evict all others. */
function checkClientLength({ clientInfo, clientCapabilities }: Session, limit: number): void {
  if (JSON.stringify([clientInfo, clientCapabilities]).length <= limit) return;
  throw new McpError("invalid_params", `\`clientInfo\` and \`capabilities\` are longer than ${limit} characters`, {
    data: { limit: "clientLength", value: limit },
    fix: "Send less, or raise `limits.clientLength` of the server.",
  });
}

function success({ layers: { self } }: ServerCore, call: ServerCall, result: object): Answer {
  const { request, row, reply } = call;
  const interim = result instanceof InputOutcome ? result : call.questions?.interruption?.interim;
  beforeAnswering(call, true);
  let encoded: EncodedAnswer;
  try {
    encoded =
      interim !== undefined
        ? request.era.input(request, interim.questions, interim.state, self)
        : result instanceof ExtensionResult
          ? request.era.extended(request, result.resultType, result.members, self)
          : request.era.result(request, result, row, self, call.cache);
  } catch (error) {
    return failure(call, error);
  }
  call.ended?.(endOf(call, { result }), encoded.text.length);
  if (reply?.session === undefined) return encoded;
  return { ...encoded, session: reply.session, sessionEnded: reply.sessionEnded };
}

function failure(call: ServerCall, error: unknown): Answer {
  beforeAnswering(call, false);
  void call.reply?.sessionEnded?.("refused");
  const answer = errorAnswer(call, publicError(call, error));
  call.ended?.(endOf(call, { error }), answer.text.length);
  if (call.reply === undefined) return answer;
  const { scopes, status = answer.status, retryAfterMs } = call.reply;
  return { ...answer, scopes, status, retryAfterMs };
}

function beforeAnswering(call: ServerCall, ok: boolean): void {
  const { beforeAnswer, questions } = call;
  // An interrupted handler cannot await its questions, so there is no warning for it.
  const ended = ok && questions?.interruption?.interim === undefined && call.failure === undefined;
  const unsettled = questions?.unsettled?.[0];
  if (ended && unsettled !== undefined) warnUnawaited(call, unsettled);
  if (beforeAnswer !== undefined) for (const act of beforeAnswer) act(ok);
}

/** Warns if the handler returned without awaiting a question or step, because the handler then ignored its outcome. */
function warnUnawaited(call: ServerCall, name: string): void {
  const what = nameOf(call) ?? call.request.method;
  call.config.warnOnce(
    `\`ctx.${name}\` was not awaited: the handler of "${what}" returned before it was done; write \`await\``,
  );
}

/** Runs a call through the layers of a server, starting with layer `from`, and then through its handler. */
export function runCall(
  steps: readonly LayerStep[],
  call: ServerCall,
  handler: MethodHandler,
  from = 0,
): MaybePromise<object> {
  const step = steps[from];
  if (step === undefined) return handler(call);
  const next = from + 1;
  return step.around(call, next === steps.length ? handler : (same) => runCall(steps, same, handler, next));
}

/**
 * Runs a call whose result is not sent directly as the answer to a request: a call to a mounted server, or a call that
 * an extension runs. Resolves with the result of the call, or with the questions of an interrupted handler.
 */
export async function runInner(run: () => MaybePromise<object>, call: ServerCall): Promise<object> {
  let result: object;
  try {
    result = await run();
  } catch (error) {
    beforeAnswering(call, false);
    call.ended?.(endOf(call, { error }), 0);
    throw error;
  }
  beforeAnswering(call, true);
  call.ended?.(endOf(call, { result }), 0);
  return result;
}

function errorAnswer({ request }: ServerCall, error: McpError): EncodedAnswer {
  try {
    return request.era.failure(request, error);
  } catch {
    // The error's data is not serialisable as JSON. Send the error without its data.
    const { kind, code } = error;
    return request.era.failure(request, new McpError(kind, thrownMessage(error), { code }));
  }
}

/**
 * Returns the error that the client receives. An error meant for the client is unchanged. Any other error is reported,
 * and the client receives at most its message.
 */
export function publicError(call: ServerCall, thrown: unknown): McpError {
  const error = readable(thrown);
  if (isUrlRequired(error)) {
    return urlRequiredFor(call, error) ?? new McpError("internal_error", urlRequiredText(error));
  }
  if (McpError.is(error) && isForCallers(error)) {
    // Warn the author of the handler: `fix` is not sent to the client.
    if (error.kind === "misuse") call.config.warnOnce(`${withCause(error)}. ${error.fix}`);
    return error;
  }
  const { message, data } = publicFailure(call, error);
  return new McpError("internal_error", message, { data });
}

/** The message of the error, followed by the message of its cause. Only for the log. */
function withCause({ message, cause }: McpError): string {
  return cause === undefined ? message : `${message}: ${thrownMessage(cause)}`;
}
