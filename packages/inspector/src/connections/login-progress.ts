import type { Login } from "@parley/mcp/auth";
import { McpError } from "@parley/mcp/protocol";
import type { LoginInfo, LoginStep } from "../contract/connections.js";

/**
 * Maximum number of stored steps. Beyond it, the oldest step is dropped, because a server that rejects every token
 * causes an unlimited number of steps.
 */
const MAX_STEPS = 60;
/** Maximum length of the address of a login page, in characters. A login with a longer address fails. */
const MAX_VISIT_LENGTH = 16_384;

/** The progress of the login of one connection. */
export class LoginProgress {
  readonly #changed: () => void;
  readonly #ended = new AbortController();
  #steps: readonly LoginStep[] = [];
  #visit: string | undefined;
  #scopes: readonly string[] | undefined;

  /** `changed` is called after every change of `info`. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Undefined if no login has started. */
  get info(): LoginInfo | undefined {
    if (this.#steps.length === 0) return undefined;
    return {
      steps: this.#steps,
      ...(this.#visit === undefined ? {} : { visit: this.#visit }),
      ...(this.#scopes === undefined ? {} : { scopes: this.#scopes }),
    };
  }

  /** True while the user has to log in. */
  get isWaiting(): boolean {
    return this.#visit !== undefined;
  }

  addStep(step: LoginStep): void {
    this.#steps = [...this.#steps, step].slice(-MAX_STEPS);
    this.#changed();
  }

  /** Sets the outcome of the step with this timeline entry. Called after the response body was read. */
  setOutcome(seq: number, outcome: string): void {
    this.#steps = this.#steps.map((step) => (step.seq === seq ? { ...step, outcome } : step));
    this.#changed();
  }

  setScopes(scopes: readonly string[]): void {
    this.#scopes = scopes;
    this.#changed();
  }

  /** Marks the last step as failed. Called when authorization failed although the last step looked successful. */
  markFailed(): void {
    const last = this.#steps.at(-1);
    if (last?.ok !== true) return;
    this.#steps = this.#steps.with(-1, { ...last, ok: false, outcome: `${last.outcome}, not accepted` });
    this.#changed();
  }

  /** Wraps a login. While the login waits for the user, `info` has the address to visit. `abort` aborts the login. */
  observe(login: Login): Login {
    if (login.kind !== "redirect") return login;
    return {
      ...login,
      begin: async (signal) => {
        const attempt = await login.begin(AbortSignal.any([signal, this.#ended.signal]));
        return {
          redirectUri: attempt.redirectUri,
          close: () => attempt.close?.(),
          visit: (url, state) => this.#awaitVisit(url, () => attempt.visit(url, state)),
        };
      },
    };
  }

  /** Aborts a login that waits for the user. */
  abort(): void {
    this.#ended.abort(new McpError("cancelled", "the connection was closed during the login"));
  }

  async #awaitVisit(url: URL, visit: () => Promise<URLSearchParams>): Promise<URLSearchParams> {
    if ((url.protocol !== "https:" && url.protocol !== "http:") || url.href.length > MAX_VISIT_LENGTH) {
      throw new McpError("authorization_failed", "the address of the login page is not http or https, or is too long", {
        fix: "Set the `authorization_endpoint` of the authorization server to a short https address.",
      });
    }
    this.#visit = url.href;
    const shown = `${url.origin}${url.pathname}`;
    this.#scopes ??= url.searchParams.get("scope")?.split(" ");
    this.addStep({ step: "login", shown, outcome: "waiting for the user to log in", ok: true });
    try {
      const answer = await visit();
      const error = answer.get("error");
      const outcome = error === null ? "the login returned a code" : `the login returned an error: ${error}`;
      this.#replaceLoginStep({ step: "login", shown, outcome: outcome.slice(0, 300), ok: error === null });
      return answer;
    } catch (error) {
      const outcome = error instanceof Error ? error.message : String(error);
      this.#replaceLoginStep({ step: "login", shown, outcome: outcome.slice(0, 300), ok: false });
      throw error;
    }
  }

  #replaceLoginStep(step: LoginStep): void {
    this.#visit = undefined;
    const at = this.#steps.findLastIndex((one) => one.step === "login");
    if (at >= 0) this.#steps = this.#steps.with(at, step);
    this.#changed();
  }
}
