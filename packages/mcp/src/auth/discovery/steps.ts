import { printableLine } from "../../encoding/printable.js";
import { shownUrl } from "../../http/shown-url.js";
import { McpError } from "../../protocol/error.js";

/** One thing that was tried on the way to a token. */
export interface AuthorizationStep {
  /** The attempt, such as "protected resource metadata". */
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

/** The message of an error, for the outcome of a step. */
export function saidBy(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Calls a function of the application on the way to a token. What it throws becomes `authorization_failed` with the function's name;
 * an `McpError`, and what `isKnown` accepts, is passed on as it is.
 */
export async function hookResult<T>(
  name: string,
  run: () => T | PromiseLike<T>,
  isKnown?: (error: unknown) => boolean,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (McpError.is(error) || isKnown?.(error) === true) throw error;
    const outcome = printableLine(saidBy(error));
    throw new McpError("authorization_failed", `\`${name}\` failed: ${outcome}`, {
      data: { hook: name, steps: [{ step: name, outcome }] },
      fix: "Correct this function of your program, or what it depends on.",
      ...(carriesResponse(error) ? {} : { cause: error }),
    });
  }
}

/** Whether a function of the application caused the error. */
export function isHookFailure({ data }: McpError): boolean {
  return typeof data === "object" && data !== null && "hook" in data;
}

/** Codes of the libraries for OAuth and JWT: their errors hold the responses that they read, with tokens and secrets in them. */
const LIBRARY_CODE = /^(?:OAUTH_|ERR_J(?:OSE|W))/;

function carriesResponse(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if ("code" in current && LIBRARY_CODE.test(String(current.code))) return true;
    current = current.cause;
  }
  return false;
}

/** Returns a function that shares the result of `work` among all calls; after a failure the next call begins again. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}
