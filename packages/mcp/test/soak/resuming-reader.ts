import { Agent, get, type IncomingMessage } from "node:http";
import { sessionHeaders } from "./messages.js";

export interface ReaderOptions {
  readonly port: number;
  readonly session: string;
  /** Events until the reader is done. */
  readonly total: number;
  /** Bytes until the next cut. */
  nextCut(): number;
  /** Lets the server say events up to this number. */
  allow(upTo: number): void;
}

/** How far the server may be ahead of what was read. */
const WINDOW = 600;
/** Read events between two permissions. */
const STEP = 200;
/** A server that restarts is away for a moment; this often it is looked for. */
const RETRY_MS = 10;
/** Attempts in a row that bring nothing. */
const MAX_ATTEMPTS = 3000;

/** Reads one stream of numbered events, cuts its own connection at random bytes and comes back with the last id. */
export class ResumingReader {
  readonly #options: ReaderOptions;
  readonly #agent = new Agent({ keepAlive: false });
  #lastId: string | undefined;
  #allowed = 0;
  #stopped = false;
  #response: IncomingMessage | undefined;
  received = 0;
  lost = 0;
  repeated = 0;
  refused = 0;
  cuts = 0;
  ended = 0;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** Resolves when the last event has arrived, or when the stream cannot be resumed. */
  async run(): Promise<void> {
    for (let vain = 0; !this.#stopped && this.received < this.#options.total && vain < MAX_ATTEMPTS; vain++) {
      const before = this.received;
      const status = await this.#connection();
      if (status >= 400) {
        this.refused++;
        return;
      }
      if (this.received > before) vain = 0;
      else if (status === 0) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    this.stop();
  }

  stop(): void {
    this.#stopped = true;
    this.#response?.destroy();
  }

  /** One connection from its beginning to its end; gives its status, 0 where there was none. */
  #connection(): Promise<number> {
    const headers = sessionHeaders(this.#options.session);
    delete headers["content-type"];
    if (this.#lastId !== undefined) headers["last-event-id"] = this.#lastId;
    return new Promise((resolve) => {
      const request = get({ port: this.#options.port, host: "127.0.0.1", path: "/mcp", agent: this.#agent, headers });
      request.on("error", () => {
        this.ended++;
        resolve(0);
      });
      request.on("response", (response) => {
        this.#response = response;
        const status = response.statusCode ?? 0;
        if (status !== 200) {
          response.resume();
          return resolve(status);
        }
        this.#read(response, () => resolve(status));
      });
    });
  }

  #read(response: IncomingMessage, over: () => void): void {
    let budget = this.#options.nextCut();
    let text = "";
    let cut = false;
    const end = () => {
      if (!cut && !this.#stopped) this.ended++;
      over();
    };
    response.setEncoding("latin1");
    response.on("error", () => {});
    response.on("close", end);
    response.on("data", (chunk: string) => {
      if (cut) return;
      // What lies behind the cut was never received.
      const blocks = (text + chunk.slice(0, budget)).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) this.#event(block);
      budget -= chunk.length;
      if (budget > 0 && this.received < this.#options.total) return;
      cut = true;
      this.cuts++;
      response.destroy();
    });
  }

  #event(block: string): void {
    const id = /^id: ?(.*)$/m.exec(block)?.[1];
    const data = /^data: ?(\{.*)$/m.exec(block)?.[1];
    if (id !== undefined) this.#lastId = id;
    if (data !== undefined) this.#take(Number(/"data":(\d+)/.exec(data)?.[1]));
    // Only from the first id on can a cut be mended.
    if (this.#lastId !== undefined) this.#permit();
  }

  #take(number: number): void {
    if (number <= this.received) this.repeated++;
    else {
      this.lost += number - this.received - 1;
      this.received = number;
    }
  }

  #permit(): void {
    const upTo = Math.min(this.#options.total, this.received + WINDOW);
    if (upTo - this.#allowed < STEP && !(upTo === this.#options.total && this.#allowed < upTo)) return;
    this.#allowed = upTo;
    this.#options.allow(upTo);
  }
}
