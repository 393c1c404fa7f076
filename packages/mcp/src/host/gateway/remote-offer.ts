import { InterimResult } from "../../client/call/requester.js";
import type { ParamHeader } from "../../era/param-headers.js";
import { isObject, type Params } from "../../jsonrpc/message.js";
import {
  type CheckedResult,
  checkCallToolResult,
  checkCompleteResult,
  checkGetPromptResult,
  checkReadResourceResult,
} from "../../protocol/checks/results.js";
import { McpError, resourceNotFound } from "../../protocol/error.js";
import { OFFER_KINDS, type OfferKind } from "../../protocol/features/offer-kinds.js";
import { TASKS } from "../../protocol/features/tasks.js";
import type { Tool } from "../../protocol/features/tools.js";
import { neutralMessage } from "../../server/call/call-failure.js";
import type { ServerCall } from "../../server/call/server-call.js";
import type { FoundOffer, OfferItems } from "../../server/contract/source.js";
import { toolCallInfo } from "../../server/sources/joined-sources.js";
import { type OfferNames, outerResult } from "../../server/sources/offer-names.js";
import { FAILURE } from "../../server/tools/result.js";
import type { Peer } from "../../transport/transport.js";
import type { HostOffer, ListedServer } from "../catalogue/host-catalogue.js";
import { matchesTemplate } from "../catalogue/template-matches.js";
import type { InnerCall } from "../catalogue/tool-filter.js";
import { RemoteConnection } from "../connection/remote-connection.js";
import type { RemoteServer } from "../connection/remote-server.js";
import { forwardError, hiddenReference } from "./forward-error.js";
import {
  answerOutsideCalls,
  continueRounds,
  type ForwardedRequest,
  forwardRequest,
  prepareRequest,
  retryAsTask,
} from "./forward-request.js";
import type { ParkedCalls } from "./running-call.js";

/** The tools of a server that its callers see. */
export interface ShownTools {
  readonly tools: { innerCall(name: string, args: Record<string, unknown> | undefined): InnerCall };
}

/** State that all offers of a gateway share. */
export interface GatewayState {
  parkedCalls(call: ServerCall): ParkedCalls;
  /** Closes a client's own connections when the client is gone. */
  closeWhenGone(peer: Peer | undefined, server: RemoteServer): void;
}

/** An offer of one of the gateway's servers. Forwards its calls to that server. */
export class RemoteOffer implements FoundOffer {
  readonly item: OfferItems[OfferKind] | undefined;
  readonly task: FoundOffer["task"];
  readonly headers: readonly ParamHeader[] | undefined;
  readonly wrapsOutput: boolean | undefined;
  readonly assumed: boolean | undefined;
  readonly check?: () => void;
  /** Capabilities and instructions of the server when this offer was created. */
  readonly about: ListedServer["lists"]["about"];
  readonly #kind: OfferKind;
  readonly #inner: string;
  readonly #names: OfferNames;
  readonly #server: RemoteServer;
  readonly #shown: ShownTools;
  readonly #state: GatewayState;

  /** `found` has no `item` if the server does not list the URI. */
  constructor(
    kind: OfferKind,
    outer: string,
    found: Omit<HostOffer, "item"> & Partial<HostOffer>,
    [server, shown]: readonly [RemoteServer, ShownTools],
    state: GatewayState,
  ) {
    const { item, inner, owner } = found;
    this.item = item;
    this.about = owner.lists.about;
    this.#kind = kind;
    this.#inner = inner;
    this.#names = owner.names;
    this.#server = server;
    this.#shown = shown;
    this.#state = state;
    if (kind === "tools" && item !== undefined) {
      const { headers, wrapsOutput } = toolCallInfo(item);
      this.headers = headers;
      this.wrapsOutput = wrapsOutput;
      this.task = taskOf(item as Tool, this.about);
    }
    if (kind !== "resources" || item !== undefined) return;
    const { resources, resourceTemplates } = owner.lists;
    this.assumed = !resourceTemplates.some((template) => matchesTemplate(template, inner));
    // A server that lists neither resources nor templates may serve any URI.
    if (!this.assumed || (resources.length === 0 && resourceTemplates.length === 0)) return;
    this.check = () => {
      throw resourceNotFound(outer);
    };
  }

  run(call: ServerCall): Promise<object> {
    const { params } = call.request;
    if (this.#kind === "tools") return this.callTool(params["arguments"], call);
    return this.#forward(call, { ...withoutMeta(params), [OFFER_KINDS[this.#kind].key]: this.#inner });
  }

  complete(call: ServerCall): Promise<object> {
    const { ref, ...params } = withoutMeta(call.request.params);
    const member = this.#kind === "prompts" ? "name" : "uri";
    return this.#forward(call, { ...params, ref: { ...(isObject(ref) ? ref : {}), [member]: this.#inner } });
  }

  /** Calls the tool with these arguments, independent of the parameters of the caller's request. */
  callTool(args: unknown, call: ServerCall): Promise<object> {
    if (args !== undefined && !isObject(args)) {
      throw new McpError("invalid_params", "`params.arguments` of tools/call must be an object");
    }
    return this.#forward(call, undefined, args);
  }

  /** Forwards a call with the `given` parameters or, if they are undefined, as a tool call with `args`. */
  async #forward(call: ServerCall, given: Params | undefined, args?: Record<string, unknown>): Promise<object> {
    const server = this.#server;
    const request = prepareRequest(call, server);
    const { caller, own, options, forwarded } = request;
    let params = given;
    if (params === undefined) {
      const { name, args: inner } = this.#shown.tools.innerCall(this.#inner, args);
      params = inner === undefined ? { name } : { name, arguments: inner };
    }
    const isolated = server.config.isolation === "client";
    let connection: RemoteConnection | undefined;
    let result: object;
    try {
      // Reading `call.signal` creates a controller. Only the call of a mounted server needs that.
      const signal = call.outer === undefined ? call.exchange.signal : call.signal;
      if (isolated) answerOutsideCalls(server, call);
      const found = server.connection(request.askable, caller, signal);
      // An open connection is not awaited, so that the next call sees this call in `running`.
      const over = found instanceof RemoteConnection ? found : await found;
      connection = over;
      if (isolated) this.#state.closeWhenGone(call.exchange.peer, server);
      if (request.isPlain && !(over.asksByRequest && request.canBeAsked)) {
        own.asksByRequest = over.asksByRequest;
        options.signal = signal;
        const { method } = call.request;
        try {
          result = await server.request({ method, params, call: own, options, forwarded }, over);
          if (result instanceof InterimResult) {
            result = await continueRounds(this.#forwarded(request, params, signal, over), own, options, result);
          }
        } catch (error) {
          result = await retryAsTask(this.#forwarded(request, params, signal, over), error);
        }
      } else result = await forwardRequest(this.#forwarded(request, params, signal, over));
      result = forwardedResult(result, call, server.name);
    } catch (error) {
      const connected = connection !== undefined;
      return forwardError(error, call, { server: server.name, names: this.#names, connected });
    } finally {
      // An anonymous caller never uses its connection again, unless the call is still running for the caller's next
      // round.
      if (isolated && caller === call.root && connection?.running === 0) server.closeConnectionsOf(caller);
    }
    const { resultType: _type, ttlMs, cacheScope, ...shown } = result as Record<string, unknown>;
    if (typeof ttlMs === "number") call.cache = { ttlMs, scope: cacheScope === "public" ? "public" : "private" };
    return outerResult(this.#names, call.request.method, shown);
  }

  #forwarded(
    request: ReturnType<typeof prepareRequest>,
    params: Params,
    signal: AbortSignal,
    connection: RemoteConnection,
  ): ForwardedRequest {
    return { ...request, params, signal, connection, parked: this.#state.parkedCalls(request.call) };
  }
}

const TASK_SUPPORT = {
  optional: { support: "optional", begin: "handler" },
  required: { support: "required", begin: "handler" },
} as const;

/**
 * The task support of a tool. Some revisions declare it for each tool. In other revisions any tool of a server with the
 * tasks extension may run as a task.
 */
function taskOf({ execution }: Tool, about: RemoteOffer["about"]): FoundOffer["task"] {
  const listed = execution?.taskSupport;
  if (listed === "optional" || listed === "required") return TASK_SUPPORT[listed];
  const { extensions } = about?.capabilities ?? {};
  return extensions !== undefined && Object.hasOwn(extensions, TASKS.id) ? TASK_SUPPORT.optional : undefined;
}

function withoutMeta({ _meta: _own, ...rest }: Params): Params {
  return rest;
}

const CHECKS: Readonly<Record<string, (result: unknown) => CheckedResult<object>>> = {
  "tools/call": checkCallToolResult,
  "prompts/get": checkGetPromptResult,
  "resources/read": checkReadResourceResult,
  "completion/complete": checkCompleteResult,
};

/**
 * Checks a result of a server. Hides the text of an unexpected error from callers for whom errors are masked. Throws
 * `invalid_response` for a malformed result.
 */
function forwardedResult(result: object, call: ServerCall, server: string): object {
  const { method } = call.request;
  const { resultType } = result as { resultType?: unknown };
  // Results of other types belong to extensions, which check them.
  if (resultType !== undefined && resultType !== "complete") return result;
  const checked = CHECKS[method]?.(result);
  if (checked === undefined) return result;
  if (checked.result === undefined) {
    throw new McpError("invalid_response", `the result of ${method} is malformed: ${checked.problems.join("; ")}`, {
      data: { server, problems: checked.problems },
    });
  }
  for (const problem of checked.problems) {
    call.config.warnOnce(`the server "${server}" behind the gateway, result of ${method}: ${problem}`);
  }
  return method === "tools/call" ? maskedResult(checked.result, call) : checked.result;
}

function maskedResult(result: object, call: ServerCall): object {
  const { isError, _meta: meta } = result as { isError?: unknown; _meta?: unknown };
  const reference = isError === true && isObject(meta) ? hiddenReference(call, meta[FAILURE]) : undefined;
  if (reference === undefined) return result;
  return { content: [{ type: "text", text: neutralMessage(reference) }], isError: true, _meta: meta };
}
