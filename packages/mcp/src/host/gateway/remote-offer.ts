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
import { answerOutside, type ForwardedRequest, inRounds, passAgain, passedRequest, passOn } from "./pass-on.js";
import { hiddenReference, passedError } from "./passed-error.js";
import type { ParkedCalls } from "./running-call.js";

/** The tools of a server as its callers may see them. */
export interface ShownTools {
  readonly tools: { innerCall(name: string, args: Record<string, unknown> | undefined): InnerCall };
}

/** What all offers of a gateway share. */
export interface PassedState {
  parkedCalls(call: ServerCall): ParkedCalls;
  /** Closes the connections that a client has for itself when it is gone. */
  untilGone(peer: Peer | undefined, server: RemoteServer): void;
}

/** An offer of a server behind the gateway, which serves the calls of it. */
export class RemoteOffer implements FoundOffer {
  readonly item: OfferItems[OfferKind] | undefined;
  readonly task: FoundOffer["task"];
  readonly headers: readonly ParamHeader[] | undefined;
  readonly wrapsOutput: boolean | undefined;
  readonly assumed: boolean | undefined;
  readonly check?: () => void;
  /** What its server said of itself when this was made. */
  readonly about: ListedServer["lists"]["about"];
  readonly #kind: OfferKind;
  readonly #inner: string;
  readonly #names: OfferNames;
  readonly #server: RemoteServer;
  readonly #shown: ShownTools;
  readonly #state: PassedState;

  /** `found` has no entry where a server does not list the URI. */
  constructor(
    kind: OfferKind,
    outer: string,
    found: Omit<HostOffer, "item"> & Partial<HostOffer>,
    [server, shown]: readonly [RemoteServer, ShownTools],
    state: PassedState,
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
    return this.#pass(call, { ...withoutMeta(params), [OFFER_KINDS[this.#kind].key]: this.#inner });
  }

  complete(call: ServerCall): Promise<object> {
    const { ref, ...params } = withoutMeta(call.request.params);
    const member = this.#kind === "prompts" ? "name" : "uri";
    return this.#pass(call, { ...params, ref: { ...(isObject(ref) ? ref : {}), [member]: this.#inner } });
  }

  /** Calls the tool with these arguments, whatever the parameters of the caller's request are. */
  callTool(args: unknown, call: ServerCall): Promise<object> {
    if (args !== undefined && !isObject(args)) {
      throw new McpError("invalid_params", "`params.arguments` of tools/call must be an object");
    }
    return this.#pass(call, undefined, args);
  }

  /** Passes a call on with `given` parameters, or with the arguments of a tool and nothing else of the caller's parameters. */
  async #pass(call: ServerCall, given: Params | undefined, args?: Record<string, unknown>): Promise<object> {
    const server = this.#server;
    const request = passedRequest(call, server);
    const { caller, own, options, forwarded } = request;
    let params = given;
    if (params === undefined) {
      const { name, args: inner } = this.#shown.tools.innerCall(this.#inner, args);
      params = inner === undefined ? { name } : { name, arguments: inner };
    }
    const isolated = server.parts.isolation === "client";
    let connection: RemoteConnection | undefined;
    let result: object;
    try {
      // The signal of the call itself is only made where somebody else may end it.
      const signal = call.outer === undefined ? call.exchange.signal : call.signal;
      if (isolated) answerOutside(server, call);
      const found = server.connection(request.askable, caller, signal);
      // Without a pause, so that the next call finds this one counted.
      const over = found instanceof RemoteConnection ? found : await found;
      connection = over;
      if (isolated) this.#state.untilGone(call.exchange.peer, server);
      if (request.isPlain && !(over.asksByRequest && request.canBeAsked)) {
        own.asksByRequest = over.asksByRequest;
        options.signal = signal;
        const { method } = call.request;
        try {
          result = await server.request({ method, params, call: own, options, forwarded }, over);
          if (result instanceof InterimResult) {
            result = await inRounds(this.#sent(request, params, signal, over), own, options, result);
          }
        } catch (error) {
          result = await passAgain(this.#sent(request, params, signal, over), error);
        }
      } else result = await passOn(this.#sent(request, params, signal, over));
      result = passedResult(result, call, server.name);
    } catch (error) {
      const connected = connection !== undefined;
      return passedError(error, call, { server: server.name, names: this.#names, connected });
    } finally {
      // An unknown caller does not come back for a connection of its own, unless the call goes on for its next round.
      if (isolated && caller === call.root && connection?.running === 0) server.left(caller);
    }
    const { resultType: _type, ttlMs, cacheScope, ...shown } = result as Record<string, unknown>;
    if (typeof ttlMs === "number") call.cache = { ttlMs, scope: cacheScope === "public" ? "public" : "private" };
    return outerResult(this.#names, call.request.method, shown);
  }

  #sent(
    request: ReturnType<typeof passedRequest>,
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

/** Some revisions say it for each tool; in the others any tool of a server with the extension may run as a task. */
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
 * A result of a server as its caller gets it: in the form of the protocol, and without the text of an unexpected error where the
 * caller may be a stranger. Throws `invalid_response` for a result that cannot be read.
 */
function passedResult(result: object, call: ServerCall, server: string): object {
  const { method } = call.request;
  const { resultType } = result as { resultType?: unknown };
  // Results of other types are those of extensions, which know their form.
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
