import type { HttpNode, SimHttp } from "./sim-http.js";
import type { Lane } from "./world.js";

type Reader = ReadableStreamDefaultReader<Uint8Array>;

const decoder = new TextDecoder();

/** One HTTP request on its way to a server, and its answer on the way back. */
export class SimExchange {
  readonly id: number;
  readonly client: string;
  readonly method: string;
  readonly body: string | undefined;
  readonly headers: Headers;
  /** The messages of a posted body, for those who watch. */
  readonly message: { id?: unknown; method?: string } | undefined;
  /** Nothing arrives any more, in either direction. */
  silent = false;
  /** True once the server has it. */
  reached = false;
  status = 0;
  readonly #net: SimHttp;
  readonly #url: string;
  readonly #signal: AbortSignal | undefined;
  readonly #down: Lane = { last: 0 };
  readonly #server = new AbortController();
  #node: HttpNode | undefined;
  #resolve: (response: Response) => void = () => {};
  #reject: (error: Error) => void = () => {};
  #reader: Reader | undefined;
  #answered = false;
  /** The client wants no more, or the connection is gone. */
  #over = false;
  #arrived: (Uint8Array | undefined)[] = [];
  #wanted: (() => void) | undefined;
  #failure: Error | undefined;
  #underWay = 0;
  #pumping = false;
  #cutAfter = Number.POSITIVE_INFINITY;
  #seen = "";

  constructor(net: SimHttp, id: number, client: string, url: string, init: RequestInit) {
    this.#net = net;
    this.id = id;
    this.client = client;
    this.#url = url;
    this.method = init.method ?? "GET";
    this.body = typeof init.body === "string" ? init.body : undefined;
    this.headers = new Headers(init.headers as Record<string, string>);
    this.headers.set("x-sim-exchange", String(id));
    this.#signal = init.signal ?? undefined;
    this.message = this.body === undefined ? undefined : JSON.parse(this.body);
  }

  start(pick: () => HttpNode | undefined): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      const signal = this.#signal;
      if (signal?.aborted === true) return this.#fail(signal.reason);
      signal?.addEventListener("abort", () => this.#leave(signal.reason), { once: true });
      const { world, random, faults } = this.#net;
      this.silent = random.chance(faults.silence);
      if (random.chance(faults.cut)) this.#cutAfter = random.int(0, 600);
      const refused = random.chance(faults.refuse);
      const lost = random.chance(faults.loseRequest);
      world.after(this.#net.delay(), `request ${this.id} ${this.method} ${this.message?.method ?? ""}`, () => {
        if (this.#over || this.silent) return;
        const node = pick();
        if (refused || node === undefined || !node.process.alive) return this.#fail(refusedError());
        if (lost) return this.break();
        this.#node = node;
        this.reached = true;
        node.process.onKill(() => {
          if (!this.#over && !this.silent) this.break();
        });
        node.process.reach(() => this.#arriveAt(node));
      });
    });
  }

  /** The connection breaks; both ends learn of it, each in its own time. */
  break(): void {
    if (this.#over) return;
    this.#over = true;
    const { world, watcher } = this.#net;
    watcher.broken(this);
    world.after(this.#net.delay(), `request ${this.id} breaks`, () => this.#fail(resetError()));
    this.#tellServer(this.#net.delay() * 3);
  }

  #arriveAt(node: HttpNode): void {
    const { random, faults } = this.#net;
    const request = new Request(this.#url, {
      method: this.method,
      headers: this.headers,
      signal: this.#server.signal,
      ...(this.body === undefined ? {} : { body: this.body }),
    });
    const loseAnswer = random.chance(faults.loseAnswer);
    void node.handler(request).then((response) => {
      if (!node.process.alive) return;
      if (this.#over) return void response.body?.cancel().catch(() => {});
      if (loseAnswer) return this.break();
      this.#answer(response);
    });
  }

  #answer(response: Response): void {
    const { world } = this.#net;
    const stream = response.headers.get("content-type") === "text/event-stream";
    this.status = response.status;
    this.#reader = response.body?.getReader();
    world.inOrder(this.#down, this.#net.delay(), `answer ${this.id} ${response.status}`, () => {
      if (this.#over || this.silent) return;
      this.#answered = true;
      const body = this.#reader === undefined ? null : this.#clientBody();
      this.#resolve(new Response(body, { status: response.status, headers: response.headers }));
      if (body === null) this.#done();
    });
    if (this.#reader === undefined) this.#net.watcher.said(this, "", stream);
    else void this.#pump(stream);
  }

  /** Carries the body over, as far as the window allows. */
  async #pump(stream: boolean): Promise<void> {
    const reader = this.#reader;
    if (reader === undefined || this.#pumping) return;
    this.#pumping = true;
    while (!this.#over && this.#underWay <= this.#net.weather.window) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (this.#node?.process.alive !== true || this.#over) break;
      if (done || value === undefined) {
        this.#carry(undefined);
        break;
      }
      this.#watch(value, stream);
      this.#underWay += value.length;
      for (const piece of this.#pieces(value)) this.#carry(piece);
    }
    this.#pumping = false;
  }

  #watch(value: Uint8Array, stream: boolean): void {
    this.#seen += decoder.decode(value);
    const events = stream ? this.#seen.split("\n\n") : [this.#seen];
    this.#seen = stream ? (events.pop() ?? "") : "";
    for (const event of events) this.#net.watcher.said(this, event, stream);
  }

  #pieces(value: Uint8Array): Uint8Array[] {
    const { random, weather } = this.#net;
    if (value.length < 2 || !random.chance(weather.split)) return [value];
    const at = random.int(1, value.length - 1);
    return [value.subarray(0, at), value.subarray(at)];
  }

  #carry(piece: Uint8Array | undefined): void {
    const name = piece === undefined ? `end of ${this.id}` : `body of ${this.id} ${piece.length}`;
    this.#net.world.inOrder(this.#down, this.#net.delay(), name, () => {
      if (this.#over || this.silent) return;
      if (piece !== undefined && piece.length > this.#cutAfter) {
        this.#arrived.push(piece.subarray(0, this.#cutAfter));
        this.#wanted?.();
        return this.break();
      }
      this.#cutAfter -= piece?.length ?? 0;
      this.#arrived.push(piece);
      this.#wanted?.();
    });
  }

  #clientBody(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: (controller) =>
          new Promise<void>((resolve, reject) => {
            this.#wanted = () => {
              const piece = this.#arrived[0];
              if (this.#arrived.length > 0) {
                this.#wanted = undefined;
                this.#arrived.shift();
                if (piece === undefined) {
                  this.#done();
                  controller.close();
                } else {
                  controller.enqueue(piece);
                  this.#taken(piece.length);
                }
                resolve();
              } else if (this.#failure !== undefined) {
                this.#wanted = undefined;
                reject(this.#failure);
              }
            };
            this.#wanted();
          }),
        cancel: () => this.#leave(new Error("the body was cancelled")),
      },
      { highWaterMark: 0 },
    );
  }

  #taken(count: number): void {
    this.#underWay -= count;
    void this.#pump(true);
  }

  /** The client turns away. */
  #leave(reason: unknown): void {
    if (this.#over) return this.#fail(reason);
    this.#over = true;
    this.#net.watcher.broken(this);
    this.#fail(reason);
    if (!this.silent) this.#tellServer(this.#net.delay());
  }

  #tellServer(ms: number): void {
    if (this.#node === undefined) return;
    this.#net.world.after(ms, `server hears that ${this.id} is gone`, () => {
      this.#node?.process.reach(() => {
        this.#server.abort(new Error("the simulated client is gone"));
        void this.#reader?.cancel().catch(() => {});
        this.#net.watcher.left(this);
      });
    });
  }

  #fail(reason: unknown): void {
    const error = reason instanceof Error ? reason : new Error(String(reason));
    this.#over = true;
    this.#failure ??= error;
    this.#net.open.delete(this);
    if (this.#answered) this.#wanted?.();
    else this.#reject(error);
  }

  #done(): void {
    this.#over = true;
    this.#net.open.delete(this);
  }
}

function refusedError(): Error {
  return new TypeError("fetch failed", {
    cause: Object.assign(new Error("the simulated server is away"), { code: "ECONNREFUSED" }),
  });
}

function resetError(): Error {
  return new TypeError("terminated", {
    cause: Object.assign(new Error("the simulated connection broke"), { code: "ECONNRESET" }),
  });
}
