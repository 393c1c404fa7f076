import { Agent, type IncomingMessage, request } from "node:http";
import type { CallLedger, LedgerCall } from "./call-ledger.js";

export interface ResumingPlan {
  readonly port: number;
  readonly principal: string;
  readonly ledger: CallLedger;
  readonly random: () => number;
}

interface StreamEvent {
  /** Which connection of the call brought it. */
  readonly connection: number;
  readonly id: string | undefined;
  readonly data: string;
}

/** What one connection came to: events until it broke, or a status without a stream. */
interface Connection {
  readonly status: number;
  readonly body: string;
}

const STEPS = 40;
const REST_MS = 30;
/** A call with all its resumptions must be over by then. */
const CALL_MS = 45_000;
const RETRY_MS = 200;
const EVENT_BYTES = 220;

/** Makes calls in a session, cuts its own connections at random bytes, resumes, and in the end reads the whole stream again. */
export class ResumingCaller {
  readonly #plan: ResumingPlan;
  readonly #agent = new Agent({ keepAlive: false });
  #session: string | undefined;
  #ids = 0;
  #connections = 0;
  calls = 0;
  events = 0;
  cuts = 0;
  lost = 0;
  repeated = 0;
  /** Resumptions that the server refused: a gap that it announced. */
  announced = 0;
  replays = 0;
  replayedDifferently = 0;
  replaysRefused = 0;

  constructor(plan: ResumingPlan) {
    this.#plan = plan;
  }

  get session(): string | undefined {
    return this.#session;
  }

  /** An id by which a stream of this session can be resumed. */
  lastId: string | undefined;

  async run(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      this.#session ??= await this.#open();
      if (this.#session === undefined) await rest(RETRY_MS);
      else await this.#call(this.#session);
    }
  }

  /** Ends the session; tries until some replica has done it. */
  async leave(): Promise<void> {
    for (let attempt = 0; this.#session !== undefined && attempt < 20; attempt++) {
      const { status } = await this.#send("DELETE", this.#headers(this.#session));
      if (status === 204 || status === 404) return;
      await rest(RETRY_MS);
    }
  }

  async #open(): Promise<string | undefined> {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1.0.0" } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: "init", method: "initialize", params });
    let session: string | undefined;
    await this.#send("POST", this.#headers(), body, undefined, (response) => {
      const id = response.headers["mcp-session-id"];
      if (response.statusCode === 200 && typeof id === "string") session = id;
    });
    if (session === undefined) return undefined;
    const ready = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    for (let attempt = 0; attempt < 20; attempt++) {
      if ((await this.#send("POST", this.#headers(session), ready)).status === 202) return session;
      await rest(RETRY_MS);
    }
    return undefined;
  }

  async #call(session: string): Promise<void> {
    const { ledger, principal } = this.#plan;
    const call = ledger.begin(`${principal} with cuts`, principal, "count", false);
    const id = ++this.#ids;
    this.calls++;
    const params = {
      name: "count",
      arguments: { nonce: call.nonce, steps: STEPS, restMs: REST_MS },
      _meta: { progressToken: call.nonce },
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
    const events: StreamEvent[] = [];
    const until = performance.now() + CALL_MS;
    let result = await this.#read(events, "POST", this.#headers(session), body);
    for (;;) {
      const answer = answerOf(events, id) ?? (result.status === 200 && result.body !== "" ? result.body : undefined);
      if (answer !== undefined) return this.#over(call, session, events, answer);
      const lastId = events.findLast((event) => event.id !== undefined)?.id;
      const refused = result.status >= 400 && result.status < 500;
      if (refused || lastId === undefined || performance.now() > until) {
        return this.#gaveUp(call, refused, lastId, result);
      }
      if (result.status !== 200) await rest(RETRY_MS);
      result = await this.#read(events, "GET", { ...this.#headers(session), "last-event-id": lastId });
    }
  }

  /** There is no more to come: because the server said so, or because nothing was heard that one could go on from. */
  #gaveUp(call: LedgerCall, refused: boolean, lastId: string | undefined, { status, body }: Connection): void {
    const { ledger } = this.#plan;
    if (refused) {
      this.announced++;
      // The session is gone; the next call opens another one.
      if (status === 404) this.#session = undefined;
    }
    call.announced = refused && lastId !== undefined;
    if (refused || lastId === undefined) ledger.failed(call, new Error(`status ${status}: ${body}`), true);
    else ledger.problem(`${call.nonce} of ${call.by} was not over after ${CALL_MS} ms; last status ${status} ${body}`);
  }

  async #over(call: LedgerCall, session: string, events: readonly StreamEvent[], answer: string): Promise<void> {
    const { ledger } = this.#plan;
    const message = JSON.parse(answer) as { result?: { content: { text: string }[] }; error?: { message: string } };
    const numbers = events.flatMap(({ data }) => Number(/"progress":(\d+)/.exec(data)?.[1] ?? Number.NaN) || []);
    const isRight = this.#checkNumbers(numbers, message.result !== undefined && events.length > 0);
    if (!isRight) ledger.problem(`${call.nonce} of ${call.by} heard ${events.map(shown).join(" ")}`);
    for (const { data } of events) ledger.told(call.principal, data);
    if (message.result === undefined) ledger.failed(call, new Error(message.error?.message), true);
    else ledger.answered(call, message.result.content[0]?.text ?? "");
    this.events += events.length;
    if (events.length > 1 && this.#plan.random() < 0.5) await this.#replay(call, session, events);
  }

  /** Whether each number came once and in order; counts those that did not. */
  #checkNumbers(numbers: readonly number[], complete: boolean): boolean {
    let last = 0;
    for (const number of numbers) {
      if (number <= last) this.repeated++;
      else this.lost += number - last - 1;
      last = Math.max(last, number);
    }
    if (complete) this.lost += STEPS - last;
    return numbers.every((number, at) => number === at + 1) && (!complete || last === STEPS);
  }

  /** Whatever replica is asked, the stream that is over has the same events. */
  async #replay(call: LedgerCall, session: string, events: readonly StreamEvent[]): Promise<void> {
    const from = events.findIndex(({ id }) => id !== undefined);
    const first = events[from]?.id;
    if (first === undefined) return;
    this.lastId = first;
    const again: StreamEvent[] = [];
    const { status } = await this.#read(again, "GET", { ...this.#headers(session), "last-event-id": first }, "", false);
    if (status >= 500 || status === 0) return;
    this.replays++;
    if (status !== 200) {
      this.replaysRefused++;
      return;
    }
    const texts = (list: readonly StreamEvent[]) => list.map(({ data }) => data).filter((data) => data !== "");
    const [want, got] = [texts(events.slice(from + 1)), texts(again)];
    // A replica that dies takes along what it has not stored, and the error that ends its call says so.
    const error = want.at(-1)?.includes('"error"') === true ? want.at(-1) : undefined;
    const heard = got.at(-1) === error ? got.slice(0, -1) : got;
    // The connection may break; what was heard until then must be the same.
    if (heard.every((data, at) => data === want[at])) return;
    this.replayedDifferently++;
    const places = `${events.map(shown).join(" ")}, then ${again.map(shown).join(" ")}`;
    this.#plan.ledger.problem(`${call.nonce} of ${call.by} was replayed differently: ${places}`);
  }

  #headers(session?: string): Record<string, string> {
    return {
      authorization: `Bearer ${this.#plan.principal}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...(session === undefined ? {} : { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }),
    };
  }

  /** Reads events of one connection until it ends, or until it is cut at a random byte. */
  #read(
    events: StreamEvent[],
    method: string,
    headers: Record<string, string>,
    body = "",
    cutting = true,
  ): Promise<Connection> {
    let text = "";
    const connection = ++this.#connections;
    let budget = cutting ? 1 + Math.floor(this.#plan.random() * EVENT_BYTES * STEPS) : Number.POSITIVE_INFINITY;
    return this.#send(method, headers, body, (chunk, response) => {
      if (response.headers["content-type"]?.startsWith("text/event-stream") !== true || budget <= 0) return;
      // What lies behind the cut was never received.
      const blocks = (text + chunk.slice(0, budget)).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const id = /^id: ?(.*)$/m.exec(block)?.[1];
        const data = /^data: ?(.*)$/m.exec(block)?.[1];
        if (id !== undefined || data !== undefined) events.push({ connection, id, data: data ?? "" });
      }
      budget -= chunk.length;
      if (budget > 0) return;
      this.cuts++;
      response.destroy();
    });
  }

  #send(
    method: string,
    headers: Record<string, string>,
    body = "",
    onChunk?: (chunk: string, response: IncomingMessage) => void,
    onResponse?: (response: IncomingMessage) => void,
  ): Promise<Connection> {
    const { port } = this.#plan;
    return new Promise((resolve) => {
      const options = { host: "127.0.0.1", port, path: "/mcp", method, headers, agent: this.#agent, timeout: CALL_MS };
      const sent = request(options, (response) => {
        onResponse?.(response);
        const isStream = response.headers["content-type"]?.startsWith("text/event-stream") === true;
        let text = "";
        response.setEncoding("latin1");
        response.on("data", (chunk: string) => {
          if (!isStream) text += chunk;
          onChunk?.(chunk, response);
        });
        response.on("error", () => {});
        response.on("close", () => resolve({ status: response.statusCode ?? 0, body: text }));
      });
      sent.on("timeout", () => sent.destroy());
      sent.on("error", (error) => resolve({ status: 0, body: error.message }));
      sent.end(body);
    });
  }
}

/** The answer to the call, where it has come; everything else on its stream is a notification. */
function answerOf(events: readonly StreamEvent[], id: number): string | undefined {
  return events.findLast(({ data }) => data.includes(`"id":${id}`) && !data.includes('"method"'))?.data;
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A number with the place that its event had, for people. */
function shown({ connection, id = "without id", data }: StreamEvent): string {
  return `${/"progress":(\d+)/.exec(data)?.[1] ?? "-"}[${connection} ${id}]`;
}
