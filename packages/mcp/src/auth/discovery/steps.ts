import { printableLine } from "../../encoding/printable.js";
import { shownUrl } from "../../http/shown-url.js";
import { McpError } from "../../protocol/error.js";

/** One thing that was tried on the way to a token. */
export interface AuthorizationStep {
  /** What was tried, such as "protected resource metadata". */
  readonly step: string;
  /** The address, without values of its query. */
  readonly url?: string | undefined;
  readonly outcome: string;
}

/** Which link of the chain to a token is broken, where the client knows it: `data.reason` of `authorization_failed`. */
type BrokenAuthorization =
  | "wrong_resource"
  | "no_authorization_server"
  | "refused_address"
  | "no_server_metadata"
  | "wrong_issuer"
  | "other_issuer"
  | "login_needed";

/** Remembers what was tried, so that an error can say how far it came. It never holds a token, a code or a secret. */
export class Steps {
  readonly #steps: AuthorizationStep[] = [];

  note(step: string, outcome: string, url?: string): void {
    const shown = url === undefined ? {} : { url: printableLine(shownUrl(url.slice(0, 500))) };
    this.#steps.push({ step, outcome: printableLine(outcome), ...shown });
  }

  /**
   * The error that ends the attempt: what failed, everything tried before, and what to change. It has no cause, because errors of
   * libraries carry the responses that they read, with tokens and secrets in them.
   */
  failure(message: string, fix: string, reason?: BrokenAuthorization): McpError {
    const tried = this.#steps.map(
      ({ step, url, outcome }) => `${step}${url === undefined ? "" : ` ${url}`}: ${outcome}`,
    );
    const text = tried.length === 0 ? message : `${message}. Tried: ${tried.join("; ")}`;
    return new McpError("authorization_failed", text, {
      fix,
      data: { steps: [...this.#steps], ...(reason === undefined ? {} : { reason }) },
    });
  }
}

/** What an error says, for the outcome of a step. */
export function saidBy(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
