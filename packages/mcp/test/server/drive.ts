import type { Principal } from "../../src/http/authentication.js";
import type { HttpRequestInfo } from "../../src/http/http.js";
import type { Params } from "../../src/jsonrpc/message.js";
import type { Revision } from "../../src/protocol/revisions.js";
import type { Answer, Endpoint, Exchange, Peer } from "../../src/transport/transport.js";

/** A question as a client sees it, whichever way it came. */
export interface AskedQuestion {
  method: string;
  params?: Record<string, unknown>;
}

export interface DriveOptions {
  revision?: Revision;
  capabilities?: Record<string, unknown>;
  principal?: Principal;
  http?: HttpRequestInfo;
  signal?: AbortSignal;
  /** More members for `_meta` of every request. */
  meta?: Record<string, unknown>;
  /** Answers the server's questions; without it the interim result is given back as it is. */
  answer?(question: AskedQuestion): unknown;
}

/** An answer as JSON, and what a transport is told beside it. */
export interface Reply {
  result?: Record<string, unknown> & { content?: { type: string; text?: string; uri?: string }[]; isError?: boolean };
  error?: { code: number; message: string; data?: Record<string, unknown> };
  answer: Answer;
}

const ROUNDS = 40;

/** Drives a server's endpoint as a transport would, without one, in any revision. */
export class Drive {
  readonly #endpoint: Endpoint;
  readonly #options: DriveOptions;
  readonly #peer: Peer | undefined;
  readonly said: { method: string; params?: Record<string, unknown> }[] = [];
  readonly asked: AskedQuestion[] = [];
  #id = 0;

  constructor(server: { endpoint(): Endpoint }, options: DriveOptions = {}) {
    this.#endpoint = server.endpoint();
    this.#options = options;
    if (this.revision !== "2026-07-28") this.#peer = this.#newPeer();
  }

  /** The peer of a stateful revision. */
  get peer(): Peer {
    if (this.#peer === undefined) throw new Error(`${this.revision} has no peers`);
    return this.#peer;
  }

  get revision(): Revision {
    return this.#options.revision ?? "2026-07-28";
  }

  /** Sends a request, answers what the server asks meanwhile, and gives the last answer. */
  async send(method: string, params: Params = {}): Promise<Reply> {
    let retry: Params = {};
    for (let round = 0; round < ROUNDS; round++) {
      const reply = await this.once(method, { ...params, ...retry });
      const { answer } = this.#options;
      if (reply.result?.["resultType"] !== "input_required" || answer === undefined) return reply;
      const questions = Object.entries((reply.result["inputRequests"] ?? {}) as Record<string, AskedQuestion>);
      this.asked.push(...questions.map(([, question]) => question));
      retry = {
        inputResponses: Object.fromEntries(questions.map(([key, question]) => [key, answer(question)])),
        ...(reply.result["requestState"] === undefined ? {} : { requestState: reply.result["requestState"] }),
      };
    }
    throw new Error(`${method} asked for more than ${ROUNDS} rounds`);
  }

  /** Calls a tool. */
  call(name: string, args?: object): Promise<Reply> {
    return this.send("tools/call", args === undefined ? { name } : { name, arguments: args });
  }

  /** Sends one request and gives its answer, interim or not. */
  async once(method: string, params: Params = {}): Promise<Reply> {
    const id = ++this.#id;
    const message = { jsonrpc: "2.0" as const, id, method, params: this.#withMeta(params) };
    const exchange = this.#exchange(id);
    const answer = await this.#endpoint.request(this.#endpoint.accept(message, exchange.http), exchange);
    return { ...(JSON.parse(answer.text) as Reply), answer };
  }

  #withMeta(params: Params): Params {
    const { meta, capabilities = {} } = this.#options;
    if (this.#peer !== undefined) return meta === undefined ? params : { ...params, _meta: meta };
    return {
      ...params,
      _meta: {
        "io.modelcontextprotocol/protocolVersion": this.revision,
        "io.modelcontextprotocol/clientInfo": { name: "drive", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        progressToken: this.#id,
        ...meta,
      },
    };
  }

  #exchange(id: number): Exchange {
    const { principal, http, signal = new AbortController().signal } = this.#options;
    return {
      id,
      signal,
      principal,
      http,
      ...(this.#peer === undefined ? {} : { peer: this.#peer, ask: (question) => this.#answer(question.text) }),
      send: (text) => void this.said.push(JSON.parse(text)),
    };
  }

  async #answer(text: string): Promise<unknown> {
    const question = JSON.parse(text) as AskedQuestion;
    this.asked.push(question);
    return this.#options.answer?.(question);
  }

  #newPeer(): Peer {
    const { capabilities = {} } = this.#options;
    return {
      session: {
        revision: this.revision,
        clientCapabilities: capabilities,
        clientInfo: { name: "drive", version: "1" },
        initialized: true,
        subscriptions: [],
      },
      abort: () => false,
      send: (text) => void this.said.push(JSON.parse(text)),
      ask: (question) => this.#answer(question.text),
    };
  }
}

/** The text of a tool's result. */
export function textOf(reply: Reply): string {
  return (reply.result?.content ?? []).map((block) => block.text ?? block.uri ?? "").join("\n");
}

/** A list in a result, for example `tools`; empty where there is none. */
export function itemsOf<T = Record<string, unknown>>({ result }: Pick<Reply, "result">, member: string): T[] {
  return (result?.[member] ?? []) as T[];
}
