import { printableLine } from "../../encoding/printable.js";
import { shownUrl } from "../../http/shown-url.js";
import { McpError } from "../../protocol/error.js";

/** One step that was tried to get a token. */
export interface AuthorizationStep {
  /** The attempt, such as "protected resource metadata". */
  readonly step: string;
  /** The address, without the values of its query. */
  readonly url?: string | undefined;
  /** The result in words, such as "found" or "HTTP 404". */
  readonly outcome: string;
}

/** The cause of a failed authorization, if the client knows it: `data.reason` of `authorization_failed`. */
type BrokenAuthorization =
  | "wrong_resource"
  | "no_authorization_server"
  | "refused_address"
  | "no_server_metadata"
  | "wrong_issuer"
  | "other_issuer"
  | "login_needed";

/**
 * Records the steps that were tried, so that an error can list them. The steps never contain a token, a code or a
 * secret.
 */
export class Steps {
  readonly #steps: AuthorizationStep[] = [];

  note(step: string, outcome: string, url?: string): void {
    const shown = url === undefined ? {} : { url: printableLine(shownUrl(url.slice(0, 500))) };
    this.#steps.push({ step, outcome: printableLine(outcome), ...shown });
  }

  /**
   * Creates the error that ends the attempt: what failed, the steps tried before, and what to change. It has no
   * `cause`, because errors of libraries carry the responses that they read, including tokens and secrets.
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

/** Returns the message of an error, for the outcome of a step. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Calls a function of the application. Turns an error into `authorization_failed` with the function's name. An
 * `McpError`, or an error that `isKnown` accepts, is rethrown unchanged.
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
    const outcome = printableLine(errorMessage(error));
    throw new McpError("authorization_failed", `\`${name}\` failed: ${outcome}`, {
      data: { hook: name, steps: [{ step: name, outcome }] },
      fix: "Correct this function in your program, or a service that it uses.",
      ...(carriesResponse(error) ? {} : { cause: error }),
    });
  }
}

/** True if a function of the application caused the error. */
export function isHookFailure({ data }: McpError): boolean {
  return typeof data === "object" && data !== null && "hook" in data;
}

/**
 * Error codes of the OAuth and JWT libraries. Their errors carry the responses that they read, including tokens and
 * secrets.
 */
const LIBRARY_CODE = /^(?:OAUTH_|ERR_J(?:OSE|W))/;

function carriesResponse(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if ("code" in current && LIBRARY_CODE.test(String(current.code))) return true;
    current = current.cause;
  }
  return false;
}

/**
 * Returns a function that runs `work` once and shares its result among all calls. After a failure, the next call runs
 * `work` again.
 */
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
