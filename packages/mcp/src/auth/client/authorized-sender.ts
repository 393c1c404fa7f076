import { isThenable } from "../../encoding/maybe-promise.js";
import type { CancelRequest, Sender, SendRequest, SendResponse } from "../../http/http.js";
import { withoutCredential } from "../../http/without-credential.js";
import { withoutHeader } from "../../http/without-header.js";
import { oauthChallenge } from "../discovery/challenge.js";
import type { OAuthSession, Refused } from "./oauth-session.js";
import type { TokenWaiter } from "./renewal.js";

/** How often one request may be answered with 401, and with 403 for its scopes, before the answer is passed on. */
const MAX_RENEWALS = 2;
const MAX_STEP_UPS = 2;
const MAX_NONCES = 2;

/**
 * Sends with the token of a session, and sends again after a challenge was answered. Nothing is repeated that may have run: a
 * server that answers 401 or 403 has refused the request.
 *
 * Requests to another origin get no token, so that no redirect carries it away.
 */
export function authorizedSender(sender: Sender, session: OAuthSession, server: string): Sender {
  const { origin } = new URL(server);
  return (request, onResponse, onError) => {
    if (new URL(request.url).origin !== origin) return sender(request, onResponse, onError);
    const sending = new Sending(sender, session, request, onResponse, onError);
    sending.start();
    return (reason) => sending.cancel(reason);
  };
}

/** One request, as often as it has to be sent. */
class Sending implements TokenWaiter {
  readonly #sender: Sender;
  readonly #session: OAuthSession;
  readonly #request: SendRequest;
  readonly #onResponse: (response: SendResponse) => void;
  readonly #onError: (error: unknown) => void;
  #cancelSend: CancelRequest | undefined;
  #cancelled = false;
  #renewals = 0;
  #stepUps = 0;
  #nonces = 0;

  constructor(
    sender: Sender,
    session: OAuthSession,
    request: SendRequest,
    onResponse: (response: SendResponse) => void,
    onError: (error: unknown) => void,
  ) {
    this.#sender = sender;
    this.#session = session;
    this.#request = request;
    this.#onResponse = onResponse;
    this.#onError = onError;
  }

  get gone(): boolean {
    return this.#cancelled;
  }

  hold(): () => void {
    return this.#request.onUserWait?.() ?? (() => {});
  }

  /** A token that is at hand costs no turn of the event loop. */
  start(): void {
    if (this.#cancelled) return;
    const { ready } = this.#session;
    if (ready !== undefined) return this.#send(["authorization", `Bearer ${ready.accessToken}`], ready.accessToken);
    const { method, url } = this.#request;
    this.#session.headersFor(method, url, this).then(
      ({ headers, token }) => this.#send(headers, token),
      (error: unknown) => this.#fail(error),
    );
  }

  cancel(reason: Error): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    // The last request that waits for a token takes the login with it.
    this.#session.leave(this, reason);
    if (this.#cancelSend === undefined) this.#onError(reason);
    else this.#cancelSend(reason);
  }

  #send(headers: readonly string[], token: string | undefined): void {
    if (this.#cancelled) return;
    const own = withoutHeader(this.#request.headers, "authorization");
    this.#cancelSend = this.#sender(
      { ...this.#request, headers: [...own, ...headers] },
      (response) => this.#received(withoutCredential(response, token), token),
      this.#onError,
    );
  }

  #received(response: SendResponse, token: string | undefined): void {
    const nonce = response.header("dpop-nonce");
    const isNew = nonce !== undefined && this.#session.learnNonce(this.#request.url, nonce);
    if (response.status !== 401 && response.status !== 403) return this.#onResponse(response);
    const challenge = oauthChallenge(response.header("www-authenticate"));
    const code = challenge?.params.get("error");
    if (isNew && code === "use_dpop_nonce" && this.#nonces++ < MAX_NONCES) return this.#again(response, undefined);
    const refused: Refused = { status: response.status, challenge, used: token };
    // A session that cannot be ended is forgotten by its server; nobody logs in once more to say goodbye.
    if (this.#request.method === "DELETE" || !this.#mayRenew(refused, code)) return this.#onResponse(response);
    this.#again(response, this.#session.renew(refused, this));
  }

  #mayRenew(refused: Refused, code: string | undefined): boolean {
    if (refused.status === 401) {
      // A login that just ended with a token that is refused would be followed by the next one.
      if (this.#renewals > 0 && this.#session.isNewest(refused.used)) return false;
      return this.#renewals++ < MAX_RENEWALS;
    }
    if (code !== "insufficient_scope" || !this.#session.mayStepUp(refused)) return false;
    return this.#stepUps++ < MAX_STEP_UPS;
  }

  #again(response: SendResponse, first: Promise<void> | undefined): void {
    response.cancel();
    this.#cancelSend = undefined;
    if (!isThenable(first)) return this.start();
    first.then(
      () => this.start(),
      (error: unknown) => this.#fail(error),
    );
  }

  #fail(error: unknown): void {
    if (!this.#cancelled) this.#onError(error);
  }
}
