import { McpError } from "@parley/mcp";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";
import { type JsonObject, objectOf, textOf } from "./publish-project.js";

/** The registry that a user names. */
export interface Registry {
  /** The address of its publish endpoint. */
  readonly endpoint: string;
  readonly token?: string | undefined;
}

/** The path of the publish endpoint in the registry API. */
const PUBLISH_PATH = "/v0.1/publish";
const MAX_WAIT_MS = 30_000;
/** Maximum length of the registry's answer that is read and shown. */
const MAX_ANSWER = 2_000;

/**
 * Reads `--registry` and `--token-env`. Throws a `UsageError` for an address that would send a token unencrypted, and
 * for a variable that is not set.
 */
export function registryOf(url: string, tokenVariable: string | undefined, env: Io["env"]): Registry {
  const { protocol, hostname, username, pathname, origin, search } = URL.canParse(url)
    ? new URL(url)
    : new URL("none:");
  const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if ((protocol !== "https:" && !(protocol === "http:" && isLocal)) || username !== "" || search !== "") {
    throw new UsageError(
      `"${url}" is not the HTTPS address of a registry`,
      "Use an address such as https://registry.example.com, without a user and a query.",
    );
  }
  const token = tokenVariable === undefined ? undefined : textOf(env[tokenVariable]?.trim());
  if (tokenVariable !== undefined && token === undefined) {
    throw new UsageError(
      `the environment variable ${tokenVariable} is not set`,
      "Set it to the token of the registry.",
    );
  }
  const base = pathname.replace(/\/+$/, "");
  return { endpoint: `${origin}${base.endsWith("/publish") ? base : base + PUBLISH_PATH}`, token };
}

/**
 * Sends a document to a registry. Follows no redirect, because the token is meant for the named address only. Throws an
 * `McpError` with the registry's reason if it does not accept the document.
 */
export async function sendServerJson(
  document: JsonObject,
  { endpoint, token }: Registry,
  signal: AbortSignal,
): Promise<void> {
  let response: Response;
  let answer: string;
  try {
    response = await fetch(endpoint, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(document),
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(MAX_WAIT_MS)]),
    });
    answer = await readStart(response);
  } catch (reason) {
    const { cause } = reason as { cause?: { code?: string } };
    const why = cause?.code ?? (reason instanceof Error ? reason.message : String(reason));
    throw new McpError("connect_failed", `the registry at ${endpoint} did not answer (${why})`, {
      fix: "Check the address of --registry.",
      cause: reason,
    });
  }
  if (response.ok) return;
  const reason = reasonIn(answer);
  const shown = token === undefined ? reason : reason.replaceAll(token, "<token>");
  const isRefused = response.status === 401 || response.status === 403;
  throw new McpError(
    isRefused ? "auth_required" : "invalid_response",
    `the registry answered with ${response.status}${shown === "" ? "" : `: ${shown}`}`,
    {
      fix: isRefused ? "Name the variable with a valid token: --token-env <name>." : "Correct what the registry names.",
    },
  );
}

/** Reads the beginning of an answer. */
async function readStart(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_ANSWER) break;
  }
  return text.slice(0, MAX_ANSWER);
}

/** Finds the reason in an answer of the registry API. */
function reasonIn(answer: string): string {
  try {
    const body = objectOf(JSON.parse(answer));
    const errors = Array.isArray(body?.["errors"]) ? body["errors"] : [];
    const details = errors.flatMap((error) => textOf(objectOf(error)?.["message"]) ?? []);
    const words = [body?.["error"], body?.["title"], body?.["detail"], ...details].filter(
      (one) => textOf(one) !== undefined,
    );
    return words.length === 0 ? answer : words.join("; ");
  } catch {
    return answer;
  }
}
