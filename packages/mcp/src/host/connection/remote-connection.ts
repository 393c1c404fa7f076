import type { QuestionForwarder } from "../../client/answers/question-forwarder.js";
import type { CallExtras, InterimResult, Requester } from "../../client/call/requester.js";
import { Client } from "../../client/client.js";
import type { LocalServer, Target } from "../../client/connect.js";
import type { ClientParts } from "../../client/connection/assemble.js";
import { openParts } from "../../client/connection/open-client.js";
import { requestTool, requestToolAnswer } from "../../client/features/tools.js";
import type { CallOptions, ClientOptions } from "../../client/options.js";
import type { Question } from "../../era/era.js";
import type { Id, Params } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { CallToolResult } from "../../protocol/features/tools.js";

/** A call that is passed on for somebody else, as far as its server may turn to them while it runs. */
export interface PassedCall {
  /** Who made it; the same value for all calls of one client. */
  readonly caller: unknown;
  /** Puts a question of the server to the caller. */
  ask(question: Question, signal: AbortSignal): Promise<object>;
  /** Sends a log message of the server to the caller. */
  log(message: Params): void;
}

/** How a connection is opened. */
export interface RemoteTarget {
  readonly name: string;
  readonly target: Target | LocalServer;
  readonly options: ClientOptions;
  /** What the callers of this connection can be asked for; undefined where the application itself answers. */
  readonly capabilities: ClientCapabilities | undefined;
  /** Answers questions that are about no call in flight. */
  readonly application: PassedCall;
}

/** One connection to a server of the host, with the calls that are passed on over it. */
export class RemoteConnection {
  readonly client: Client;
  readonly name: string;
  /** True if questions come as requests of the server while a call runs, and not in its results. */
  readonly asksByRequest: boolean;
  /** Calls in flight, the application's own included. */
  running = 0;
  readonly #parts: ClientParts;
  readonly #passed: Map<Id, PassedCall>;

  constructor(name: string, parts: ClientParts, passed: Map<Id, PassedCall>) {
    this.name = name;
    this.#parts = parts;
    this.#passed = passed;
    this.client = new Client(parts);
    this.asksByRequest = parts.connection.established.serverMayAsk;
    parts.router.on("notifications/message", (message) => this.#log(message as unknown as Params));
  }

  /** Opens a connection that is not opened again when it is lost: its owner decides that. */
  static async open({ name, target, options, capabilities, application }: RemoteTarget): Promise<RemoteConnection> {
    const passed = new Map<Id, PassedCall>();
    const forwarder = capabilities === undefined ? undefined : forwarderOf(name, passed, capabilities, application);
    const owner = forwarder === undefined ? { reopens: false } : { reopens: false, forwarder };
    return new RemoteConnection(name, await openParts(target, options, owner), passed);
  }

  /** Resolves with the reason when the connection has ended, whoever ended it. */
  ended(): Promise<Error | undefined> {
    return new Promise((resolve) => {
      const look = ({ state, reason }: { state: string; reason?: Error | undefined }) => {
        if (state === "disconnected" || state === "closed") resolve(reason);
      };
      this.client.on("state", look);
      look({ state: this.client.state });
    });
  }

  /** Sends a request for a caller; the result is that of the server, or a round of its questions. */
  async pass(
    method: string,
    params: Params,
    call: PassedCall,
    options: CallOptions,
    extras: CallExtras,
  ): Promise<Record<string, unknown> | InterimResult> {
    return this.#tracked(call, async (onSent) => {
      const own: CallExtras = { ...extras, onSent, interim: true };
      // Tools have headers to repeat, which only their lists tell.
      if (method !== "tools/call") return this.#parts.caller.call(method, params, options, own);
      const { name, arguments: args } = params as { name: string; arguments?: object };
      return (await requestToolAnswer(this.#parts.tools, name, args, options, own)) as Record<string, unknown>;
    });
  }

  /** Calls a tool for the application, and gives its checked result. */
  callTool(
    name: string,
    args: object | undefined,
    call: PassedCall,
    options: CallOptions,
    extras: CallExtras,
  ): Promise<CallToolResult> {
    return this.#tracked(call, (onSent) => requestTool(this.#parts.tools, name, args, options, { ...extras, onSent }));
  }

  /** Sends any other request for the application. */
  requester(call: PassedCall): Requester {
    const { caller } = this.#parts;
    return {
      strict: caller.strict,
      warn: (message) => caller.warn(message),
      call: (method, params, options) =>
        this.#tracked(call, (onSent) => caller.call(method, params, options, { onSent })),
    };
  }

  /** Knows whose call a question is about as long as `send` runs. */
  async #tracked<T>(call: PassedCall, send: (onSent: (id: Id) => void) => Promise<T>): Promise<T> {
    const ids: Id[] = [];
    this.running++;
    try {
      return await send((id) => {
        for (const old of ids.splice(0)) this.#passed.delete(old);
        ids.push(id);
        this.#passed.set(id, call);
      });
    } finally {
      this.running--;
      for (const id of ids) this.#passed.delete(id);
    }
  }

  close(): Promise<void> {
    return this.client.close();
  }

  #log(message: Params): void {
    onlyCaller(this.#passed)?.log(message);
  }
}

/** The last of the calls if all of them are of one caller. */
function onlyCaller(passed: ReadonlyMap<Id, PassedCall>): PassedCall | undefined {
  let last: PassedCall | undefined;
  for (const call of passed.values()) {
    if (last !== undefined && last.caller !== call.caller) return undefined;
    last = call;
  }
  return last;
}

function forwarderOf(
  name: string,
  passed: ReadonlyMap<Id, PassedCall>,
  capabilities: ClientCapabilities,
  application: PassedCall,
): QuestionForwarder {
  return {
    capabilities: () => capabilities,
    answer(question, about, signal) {
      const nobody = passed.size === 0 ? application : undefined;
      const call = (about === undefined ? onlyCaller(passed) : passed.get(about)) ?? nobody;
      if (call === undefined) throw unattributed(name, question);
      return call.ask(question, signal);
    },
  };
}

function unattributed(name: string, { method }: Question): McpError {
  return new McpError(
    "capability_missing",
    `calls of several clients are in flight, and ${method} does not say which of them it is about`,
    { fix: `Set \`isolation: "client"\` for the server "${name}", so that each client has its own connection.` },
  );
}
