import type { Sender, SendRequest, SendResponse } from "../../../http/http.js";
import { shownUrl } from "../../../http/shown-url.js";
import type { Id, RequestMessage } from "../../../jsonrpc/message.js";
import type { Platform } from "../../../platform/platform.js";
import { McpError } from "../../../protocol/error.js";
import type { HttpFailure } from "../../../protocol/http-failure.js";
import type { Receiver } from "../../transport.js";
import { brokenOff, failureOf } from "./failure.js";

/** What was learnt of the server by one handshake. A new handshake begins a new one; what runs goes on in its own. */
export interface Epoch {
  era: "unknown" | "stateful" | "stateless";
  session: string | undefined;
  /** Lower-case names; goes with every request. */
  headers: Record<string, string>;
  /** True when a new handshake began after it. */
  retired: boolean;
}

/** What a line is made of; `sender` already treats redirects. */
export interface LineOptions {
  sender: Sender;
  platform: Platform;
  url: string;
  receiver: Receiver;
  headers: Record<string, string>;
  maxBytes: number;
  maxAttempts: number | undefined;
  sendMs: number;
}

const SESSION_HEADER = "mcp-session-id";

/** Sends single HTTP requests to one server, with all the headers that belong to them. */
export class Line {
  readonly url: string;
  /** The address as messages may say it. */
  readonly shown: string;
  readonly platform: Platform;
  readonly receiver: Receiver;
  readonly maxBytes: number;
  readonly maxAttempts: number | undefined;
  readonly #sender: Sender;
  readonly #headers: Record<string, string>;
  readonly #sendMs: number;
  /** Ends each request that waits without a call's own deadline. */
  readonly #waiting = new Set<(reason: Error) => void>();

  constructor(options: LineOptions) {
    this.url = options.url;
    this.shown = shownUrl(options.url);
    this.platform = options.platform;
    this.receiver = options.receiver;
    this.maxBytes = options.maxBytes;
    this.maxAttempts = options.maxAttempts;
    this.#sender = options.sender;
    this.#headers = lowerCase(options.headers);
    this.#sendMs = options.sendMs;
  }

  /** What `epoch` sends with every request; `headers` are the handshake's. */
  headersOf(headers: Record<string, string>): Record<string, string> {
    return { ...this.#headers, ...lowerCase(headers) };
  }

  /** Posts one message and hands back the answer, whatever its status. */
  post(epoch: Epoch, text: string, signal: AbortSignal, extra?: Record<string, string>): Promise<SendResponse> {
    const headers: Record<string, string> = { ...epoch.headers };
    // In one case only, because one name in two would be sent twice.
    if (extra !== undefined) for (const [name, value] of Object.entries(extra)) headers[name.toLowerCase()] = value;
    headers.accept = "application/json, text/event-stream";
    headers["content-type"] = "application/json";
    if (epoch.session !== undefined) headers[SESSION_HEADER] = epoch.session;
    return this.#sender({ method: "POST", url: this.url, headers, body: text, signal });
  }

  /** Opens a stream: a standing one, or with `lastEventId` the rest of a broken one. */
  get(epoch: Epoch, signal: AbortSignal, lastEventId?: string, session = epoch.session): Promise<SendResponse> {
    const headers: Record<string, string> = { ...epoch.headers, accept: "text/event-stream" };
    if (session !== undefined) headers[SESSION_HEADER] = session;
    if (lastEventId !== undefined) headers["last-event-id"] = lastEventId;
    return this.#sender({ method: "GET", url: this.url, headers, signal });
  }

  /** Gives up everything that `tell` waits for. */
  stop(reason: Error): void {
    for (const end of this.#waiting) end(reason);
  }

  /** Ends the session on the server; whether that worked does not matter any more. */
  async end(epoch: Epoch, ms: number): Promise<void> {
    if (epoch.session === undefined) return;
    const headers = { ...epoch.headers, [SESSION_HEADER]: epoch.session };
    const { url } = this;
    await this.#within(ms, async (signal) => {
      const request: SendRequest = { method: "DELETE", url, headers, signal };
      (await this.#sender(request)).cancel();
    }).catch(() => {});
  }

  /** Posts a message that expects no answer. Rejects when the server refuses it or stays silent. */
  async tell(epoch: Epoch, text: string, what: string, extra?: Record<string, string>): Promise<void> {
    try {
      await this.#within(this.#sendMs, async (signal) => {
        const response = await this.post(epoch, text, signal, extra);
        if (response.status < 200 || response.status > 299) throw await this.failure(response, epoch, what);
        response.cancel();
      });
    } catch (error) {
      throw brokenOff(error, what, this.shown);
    }
  }

  /** Has the client answer a request of the server, and posts the answer if there is one. */
  answer(epoch: Epoch, message: RequestMessage): void {
    this.receiver
      .request(message)
      .then((text) => (text === "" ? undefined : this.tell(epoch, text, `the answer to ${message.method}`)))
      .catch((error: unknown) => this.receiver.fault(error instanceof Error ? error : new Error(String(error))));
  }

  /** The error behind an answer with an error status. */
  async failure(response: SendResponse, epoch: Epoch, method: string, id?: Id, session = epoch.session) {
    const asked = { url: this.shown, method, id, inSession: session !== undefined, now: this.platform.now() };
    const failure = await failureOf(response, asked);
    if (epoch.retired && McpError.is(failure) && failure.kind === "session_lost") {
      // `failureOf` made it a moment ago.
      (failure.data as HttpFailure).stale = true;
    }
    return failure;
  }

  /** Runs `work` and aborts it after `ms`; the promise settles then also when the sender does not listen. */
  #within(ms: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    return new Promise((resolve, reject) => {
      const end = (reason: Error) => {
        controller.abort(reason);
        reject(reason);
      };
      const timer = this.platform.timer(ms, () => end(tooSlow(this.shown, ms)));
      this.#waiting.add(end);
      work(controller.signal)
        .then(resolve, reject)
        .finally(() => {
          timer.cancel();
          this.#waiting.delete(end);
        });
    });
  }
}

function tooSlow(url: string, ms: number): McpError {
  return new McpError("timeout", `${url} did not answer within ${ms} ms`, {
    fix: "Check that the server is alive, or raise `timeouts.send`.",
  });
}

/** The session that an answer opens, or undefined. Throws when it could not be sent back. */
export function sessionOf(response: SendResponse): string | undefined {
  const session = response.header(SESSION_HEADER);
  if (session === undefined || /^[\x21-\x7e]{1,4096}$/.test(session)) return session;
  throw new McpError(
    "invalid_response",
    "the server gave a session id that is not 1 to 4096 visible ASCII characters",
    {
      fix: "Correct the server: `Mcp-Session-Id` consists of the characters 0x21 to 0x7E.",
    },
  );
}

/** Something that the server sent and the protocol does not allow. */
export function protocolFault(message: string): McpError {
  return new McpError("invalid_response", message, { fix: "Report it to the author of the server." });
}

function lowerCase(headers: Record<string, string>): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) result[name.toLowerCase()] = value;
  return result;
}
