import { eventsOf } from "./modern.js";

/** A bare client of the handshake era: it speaks HTTP by hand, so that tests see exactly what goes over the wire. */
export class LegacyClient {
  readonly url: string;
  readonly #fetch: (request: Request) => Promise<Response>;
  readonly #extra: Record<string, string>;
  sessionId: string | undefined;
  #nextId = 1;

  constructor(
    url: string,
    options: { fetch?: (request: Request) => Promise<Response>; headers?: Record<string, string> } = {},
  ) {
    this.url = url;
    this.#fetch = options.fetch ?? ((request) => fetch(request));
    this.#extra = options.headers ?? {};
  }

  async open(revision = "2025-11-25", capabilities: Record<string, unknown> = {}): Promise<Response> {
    const response = await this.post({
      jsonrpc: "2.0",
      id: "init",
      method: "initialize",
      params: { protocolVersion: revision, capabilities, clientInfo: { name: "bare", version: "1" } },
    });
    this.sessionId = response.headers.get("mcp-session-id") ?? undefined;
    if (this.sessionId !== undefined) {
      const ready = await this.post({ jsonrpc: "2.0", method: "notifications/initialized" });
      if (ready.status !== 202) throw new Error(`initialized got ${ready.status}`);
    }
    return response;
  }

  post(message: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    return this.send("POST", { "content-type": "application/json", ...headers }, JSON.stringify(message), signal);
  }

  call(name: string, args: Record<string, unknown> = {}, signal?: AbortSignal, meta?: object): Promise<Response> {
    const params = { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) };
    return this.post({ jsonrpc: "2.0", id: this.#nextId++, method: "tools/call", params }, {}, signal);
  }

  get(headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    return this.send("GET", headers, undefined, signal);
  }

  send(method: string, headers: Record<string, string>, body?: string, signal?: AbortSignal): Promise<Response> {
    return this.#fetch(
      new Request(this.url, {
        method,
        headers: {
          accept: "application/json, text/event-stream",
          ...(this.sessionId === undefined ? {} : { "mcp-session-id": this.sessionId }),
          ...this.#extra,
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      }),
    );
  }
}

export interface WireEvent {
  id?: string;
  data: string;
}

/** Reads an event stream as it comes; `next` waits for one event, `rest` for the end. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";
  raw = "";

  constructor(response: Response) {
    if (response.body === null) throw new Error("the response has no body");
    this.#reader = response.body.getReader();
  }

  /** The next event with a `data` field; undefined at the end. */
  async next(): Promise<WireEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const block = this.#text.slice(0, end + 2);
        this.#text = this.#text.slice(end + 2);
        const [event] = eventsOf(block);
        if (event !== undefined) return event;
        continue;
      }
      const chunk = await this.#reader.read();
      if (chunk.done) return undefined;
      const text = this.#decoder.decode(chunk.value, { stream: true });
      this.#text += text;
      this.raw += text;
    }
  }

  /** The next message, skipping events without data. */
  async message(): Promise<Record<string, unknown> & { eventId?: string }> {
    for (;;) {
      const event = await this.next();
      if (event === undefined) throw new Error("the stream ended");
      if (event.data === "") continue;
      return { ...JSON.parse(event.data), ...(event.id === undefined ? {} : { eventId: event.id }) };
    }
  }

  async rest(): Promise<WireEvent[]> {
    const events: WireEvent[] = [];
    for (let event = await this.next(); event !== undefined; event = await this.next()) events.push(event);
    return events;
  }

  cancel(): Promise<void> {
    return this.#reader.cancel().catch(() => {});
  }
}
