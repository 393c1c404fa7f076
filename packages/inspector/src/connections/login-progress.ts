import type { Login } from "@parley/mcp/auth";
import { McpError } from "@parley/mcp/protocol";
import type { LoginInfo, LoginStep } from "../contract/connections.js";

/** Steps that are kept; a server that refuses every token must not fill the page. */
const MOST_STEPS = 60;
/** Characters of the address of a login. */
const MOST_VISIT = 16_384;

/** How far the login of one connection has come. */
export class LoginProgress {
  readonly #changed: () => void;
  readonly #ended = new AbortController();
  #steps: readonly LoginStep[] = [];
  #visit: string | undefined;
  #scopes: readonly string[] | undefined;

  /** `changed` is called when a step was added, and when the user is waited for or no longer. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Undefined where nothing of a login has happened. */
  get info(): LoginInfo | undefined {
    if (this.#steps.length === 0) return undefined;
    return {
      steps: this.#steps,
      ...(this.#visit === undefined ? {} : { visit: this.#visit }),
      ...(this.#scopes === undefined ? {} : { scopes: this.#scopes }),
    };
  }

  /** Whether the user is waited for. */
  get waits(): boolean {
    return this.#visit !== undefined;
  }

  note(step: LoginStep): void {
    this.#steps = [...this.#steps, step].slice(-MOST_STEPS);
    this.#changed();
  }

  /** Says more about the step that an exchange was, once its body is read. */
  amend(seq: number, outcome: string): void {
    this.#steps = this.#steps.map((step) => (step.seq === seq ? { ...step, outcome } : step));
    this.#changed();
  }

  granted(scopes: readonly string[]): void {
    this.#scopes = scopes;
    this.#changed();
  }

  /** The login went no further: what was answered last is not accepted, even where its status says nothing of it. */
  broke(): void {
    const last = this.#steps.at(-1);
    if (last?.ok !== true) return;
    this.#steps = this.#steps.with(-1, { ...last, ok: false, outcome: `${last.outcome}, which is not accepted` });
    this.#changed();
  }

  /** The same login, which shows the page to visit here while the user is waited for, and gives up when the connection is closed. */
  watched(login: Login): Login {
    if (login.kind !== "redirect") return login;
    return {
      ...login,
      begin: async (signal) => {
        const attempt = await login.begin(AbortSignal.any([signal, this.#ended.signal]));
        return {
          redirectUri: attempt.redirectUri,
          close: () => attempt.close?.(),
          visit: (url, state) => this.#visiting(url, () => attempt.visit(url, state)),
        };
      },
    };
  }

  /** Gives up a login that waits for the user. */
  end(): void {
    this.#ended.abort(new McpError("cancelled", "the connection was closed during the login"));
  }

  async #visiting(url: URL, visit: () => Promise<URLSearchParams>): Promise<URLSearchParams> {
    if ((url.protocol !== "https:" && url.protocol !== "http:") || url.href.length > MOST_VISIT) {
      throw new McpError("authorization_failed", "the page of the login has no web address, or one that is too long", {
        fix: "Let the authorization server name a short https address as its `authorization_endpoint`.",
      });
    }
    this.#visit = url.href;
    const shown = `${url.origin}${url.pathname}`;
    this.#scopes ??= url.searchParams.get("scope")?.split(" ");
    this.note({ step: "login", shown, outcome: "the user is to log in there", ok: true });
    try {
      const answer = await visit();
      const error = answer.get("error");
      const outcome = error === null ? "the user came back with a code" : `the server sent the user back: ${error}`;
      this.#settled({ step: "login", shown, outcome: outcome.slice(0, 300), ok: error === null });
      return answer;
    } catch (error) {
      const outcome = error instanceof Error ? error.message : String(error);
      this.#settled({ step: "login", shown, outcome: outcome.slice(0, 300), ok: false });
      throw error;
    }
  }

  #settled(step: LoginStep): void {
    this.#visit = undefined;
    const at = this.#steps.findLastIndex((one) => one.step === "login");
    if (at >= 0) this.#steps = this.#steps.with(at, step);
    this.#changed();
  }
}
