import type { CancelRequest, Sender, SendRequest, SendResponse } from "../../../http/http.js";
import { headerList, lowerCaseNames } from "../../../http/protocol-headers.js";
import { shownUrl } from "../../../http/shown-url.js";
import { credentialOf, withoutCredential } from "../../../http/without-credential.js";
import type { Id, RequestMessage } from "../../../jsonrpc/message.js";
import { PausableTimer } from "../../../platform/pausable-timer.js";
import type { Platform } from "../../../platform/platform.js";
import { McpError } from "../../../protocol/error.js";
import type { HttpFailure } from "../../../protocol/http-failure.js";
import type { Receiver } from "../../transport.js";
import { failureOf, networkError, tooSlow, waitBeforeAnswer } from "./failure.js";
import { afterRedirect, REDIRECTS, type RedirectPolicy } from "./redirect.js";

/**
 * The result of one handshake. Each handshake creates a new object. Running requests continue to use the object with
 * which they began.
 */
export interface HandshakeState {
  /** True if the revision has sessions and a GET stream. Undefined until the handshake ends. */
  hasSessions: boolean | undefined;
  session: string | undefined;
  /** Sent with every request. The names are in lower case. */
  headers: Readonly<Record<string, string>>;
  /** True once a later handshake has begun. */
  retired: boolean;
}

/** Options for `HttpRequests`. */
export interface HttpRequestsOptions {
  sender: Sender;
  redirects: RedirectPolicy;
  platform: Platform;
  url: string;
  receiver: Receiver;
  headers: Record<string, string>;
  maxBytes: number;
  maxAttempts: number | undefined;
  sendMs: number;
}

/** Receives the function that cancels the request just sent. */
export type HoldCancel = (cancel: CancelRequest) => void;

/** Maximum number of answers sent at the same time. At this limit the client stops reading streams of the server. */
const MAX_REPLIES = 100;
/**
 * Maximum number of attempts to post an answer. They last about eight seconds, unless the server asks for longer waits.
 */
const MAX_ANSWER_ATTEMPTS = 6;
/**
 * Maximum number of answers that wait for their turn, for example because many questions arrived at once. Further
 * answers are rejected.
 */
const MAX_QUEUED_REPLIES = 10_000;
/** One shared error, so that a flood of questions does not create a stack trace for each. */
const TOO_MANY_REPLIES = /* @__PURE__ */ new McpError(
  "limit_exceeded",
  `the server sent more than ${MAX_QUEUED_REPLIES} requests without accepting an answer`,
  { fix: "Report it to the author of the server." },
);

/** The header with the id of a session. */
export const SESSION_HEADER = "mcp-session-id";

/** Sends single HTTP requests to one server, with all their headers. */
export class HttpRequests {
  readonly url: string;
  /** The address without secrets, for messages. */
  readonly shown: string;
  readonly platform: Platform;
  readonly receiver: Receiver;
  readonly maxBytes: number;
  readonly maxAttempts: number | undefined;
  readonly #sender: Sender;
  readonly #redirects: RedirectPolicy;
  readonly #headers: Record<string, string>;
  readonly #sendMs: number;
  /** Functions that each end one request or pause that no call deadline covers. */
  readonly #waiting = new Set<(reason: Error) => void>();
  /** Number of answers being sent. */
  #replies = 0;
  /** True while the number of answers being sent is at its limit. */
  isFull = false;
  #queuedReplies: { send(): void; drop(reason: Error): void }[] = [];
  #stopped = false;
  #replyRoom: { promise: Promise<void>; open(): void } | undefined;

  constructor(options: HttpRequestsOptions) {
    this.url = options.url;
    this.shown = shownUrl(options.url);
    this.platform = options.platform;
    this.receiver = options.receiver;
    this.maxBytes = options.maxBytes;
    this.maxAttempts = options.maxAttempts;
    this.#sender = options.sender;
    this.#redirects = options.redirects;
    this.#headers = lowerCaseNames(options.headers);
    this.#sendMs = options.sendMs;
  }

  /**
   * Returns the headers that every request sends: those of the options, and the additional `headers` of the handshake.
   */
  headersOf(headers: Record<string, string>): Record<string, string> {
    return { ...this.#headers, ...lowerCaseNames(headers) };
  }

  /** Builds the request that posts one message. */
  postRequest(
    handshake: HandshakeState,
    text: string,
    extra: Readonly<Record<string, string>> | undefined,
  ): SendRequest {
    const headers: Record<string, string> = extra === undefined ? {} : lowerCaseNames(extra);
    headers.accept = "application/json, text/event-stream";
    headers["content-type"] = "application/json";
    if (handshake.session !== undefined) headers[SESSION_HEADER] = handshake.session;
    return { method: "POST", url: this.url, headers: headerList(handshake.headers, headers), body: text };
  }

  /** Pauses the deadline of a request, or of the connection, while a user acts. */
  userWait(about?: Id): () => void {
    return this.receiver.userWait?.(about) ?? (() => {});
  }

  /** Sends a request. `onResponse` receives responses of any status, redirects included. */
  send(
    request: SendRequest,
    onResponse: (response: SendResponse) => void,
    onError: (error: unknown) => void,
  ): CancelRequest {
    return this.#sender(request, onResponse, onError);
  }

  /** Follows the redirects that begin with `response`. Rejects if one must not be followed. */
  async follow(request: SendRequest, response: SendResponse, hold: HoldCancel): Promise<SendResponse> {
    let [last, answer] = [request, response];
    for (let hops = 0; REDIRECTS.has(answer.status); hops++) {
      const next = afterRedirect(last, answer, hops, this.#redirects);
      answer = await new Promise((resolve, reject) => hold(this.#sender(next, resolve, reject)));
      last = next;
    }
    return answer;
  }

  /** Opens the GET stream, or resumes a broken stream after `lastEventId`. */
  get(
    handshake: HandshakeState,
    hold: HoldCancel,
    lastEventId?: string,
    session = handshake.session,
  ): Promise<SendResponse> {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (session !== undefined) headers[SESSION_HEADER] = session;
    if (lastEventId !== undefined) headers["last-event-id"] = lastEventId;
    const onUserWait = () => this.userWait();
    return this.#sent(
      { method: "GET", url: this.url, headers: headerList(handshake.headers, headers), onUserWait },
      hold,
    );
  }

  /** Resolves when answers can be sent again. While `isFull`, streams must not read further questions. */
  get replyRoom(): Promise<void> {
    if (this.#replyRoom === undefined) {
      let open = () => {};
      const promise = new Promise<void>((resolve) => {
        open = resolve;
      });
      this.#replyRoom = { promise, open };
    }
    return this.#replyRoom.promise;
  }

  /**
   * Posts an answer to the server when its turn comes. Rejects if too many answers wait, because a server that accepts
   * none must not fill the memory of the client.
   */
  reply(handshake: HandshakeState, text: string, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const send = () => {
        this.#replies++;
        this.isFull = this.#replies >= MAX_REPLIES;
        this.#postWithRetries(handshake, text, what)
          .then(resolve, reject)
          .finally(() => this.#replied());
      };
      if (this.#replies < MAX_REPLIES) send();
      else if (this.#queuedReplies.length < MAX_QUEUED_REPLIES) this.#queuedReplies.push({ send, drop: reject });
      else reject(TOO_MANY_REPLIES);
    });
  }

  /**
   * Posts an answer, and posts it again if the server is unreachable or asks for a later retry. Without a retry, the
   * call on the server would never receive the answer. A server that receives an answer twice drops the second one.
   */
  async #postWithRetries(handshake: HandshakeState, text: string, what: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.post(handshake, text, what);
      } catch (error) {
        const isFinal = attempt === MAX_ANSWER_ATTEMPTS || handshake.retired || this.#stopped;
        const waitMs = isFinal ? undefined : waitBeforeAnswer(error, attempt);
        if (waitMs === undefined) throw error;
        await this.#pause(waitMs);
      }
    }
  }

  /** Waits `ms`. Rejects when `stop` is called. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (reason: Error) => {
        timer.cancel();
        reject(reason);
      };
      const timer = this.platform.timer(ms, () => {
        this.#waiting.delete(end);
        resolve();
      });
      this.#waiting.add(end);
    });
  }

  #replied(): void {
    this.#replies--;
    const next = this.#queuedReplies.shift();
    if (next !== undefined) return next.send();
    this.isFull = false;
    this.#replyRoom?.open();
    this.#replyRoom = undefined;
  }

  /** Rejects all answers and posts that are queued, paused or being sent. */
  stop(reason: Error): void {
    this.#stopped = true;
    for (const { drop } of this.#queuedReplies.splice(0)) drop(reason);
    for (const end of this.#waiting) end(reason);
  }

  /** Ends the session on the server. Ignores failures, because the client is closing. */
  async end(handshake: HandshakeState, ms: number): Promise<void> {
    if (handshake.session === undefined) return;
    const headers = headerList(handshake.headers, { [SESSION_HEADER]: handshake.session });
    const { url } = this;
    await this.#within(ms, async (hold) => {
      (await this.#sent({ method: "DELETE", url, headers }, hold)).cancel();
    }).catch(() => {});
  }

  /**
   * Posts a message that needs no answer. With HTTP+SSE, also posts the request with the id `about`, whose answer
   * arrives on the event stream. Rejects if the server refuses the message or does not respond in time.
   */
  async post(
    handshake: HandshakeState,
    text: string,
    what: string,
    extra?: Record<string, string>,
    about?: Id,
  ): Promise<void> {
    try {
      await this.#within(this.#sendMs, async (hold, timer) => {
        const request = this.postRequest(handshake, text, extra);
        request.onUserWait = () => {
          const releases = [timer.hold(), this.userWait(about)];
          return () => {
            for (const release of releases) release();
          };
        };
        const response = await this.#sent(request, hold);
        if (response.status < 200 || response.status > 299) throw await this.failure(response, handshake, what);
        response.cancel();
      });
    } catch (error) {
      throw networkError(error, what, this.shown);
    }
  }

  /** Passes a request of the server to the client and posts the answer, if any. */
  answer(handshake: HandshakeState, message: RequestMessage, about?: Id): void {
    this.receiver
      .request(message, about)
      .then((text) => (text === "" ? undefined : this.reply(handshake, text, `the answer to ${message.method}`)))
      .catch((error: unknown) => this.receiver.fault(error instanceof Error ? error : new Error(String(error))));
  }

  /** Builds the error for a response with an error status. */
  async failure(
    response: SendResponse,
    handshake: HandshakeState,
    method: string,
    id?: Id,
    session = handshake.session,
  ) {
    const sent = { url: this.shown, method, id, inSession: session !== undefined, now: this.platform.now() };
    const failure = await failureOf(
      withoutCredential(response, credentialOf(handshake.headers["authorization"])),
      sent,
    );
    if (handshake.retired && McpError.is(failure) && failure.kind === "session_lost") {
      // Safe to change: `failureOf` has just created this object, and its `data` is an `HttpFailure`.
      (failure.data as HttpFailure).stale = true;
    }
    return failure;
  }

  async #sent(request: SendRequest, hold: HoldCancel): Promise<SendResponse> {
    const response = await new Promise<SendResponse>((resolve, reject) => {
      hold(this.#sender(request, resolve, reject));
    });
    return this.follow(request, response, hold);
  }

  /** Runs `work` and cancels it after `ms`. The promise then settles even if the sender ignores the cancellation. */
  #within(ms: number, work: (hold: HoldCancel, timer: PausableTimer) => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      let cancel: CancelRequest | undefined;
      const end = (reason: Error) => {
        reject(reason);
        cancel?.(reason);
      };
      const timer = new PausableTimer(this.platform, ms, () => end(tooSlow(this.shown, ms)));
      this.#waiting.add(end);
      work((sent) => {
        cancel = sent;
      }, timer)
        .then(resolve, reject)
        .finally(() => {
          timer.cancel();
          this.#waiting.delete(end);
        });
    });
  }
}
