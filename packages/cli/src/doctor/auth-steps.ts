import { McpError } from "@parley/mcp";
import { type AuthorizationStep, oauth } from "@parley/mcp/auth";
import type { Invocation } from "../commands/command.js";
import { grantCredentials, savedLogins } from "../target/saved-logins.js";
import { EXIT } from "../terminal/exit-code.js";
import { errorMessageIn } from "./browser-steps.js";
import { CheckFailure, type Checkup, type Finding, type StepContext } from "./checkup.js";
import { type ExaminedConnection, openExamined } from "./examined-connection.js";
import { sendProbe } from "./http-probe.js";
import type { HttpFindings } from "./http-steps.js";

/** The input of the auth step. */
export interface AuthCheckOptions {
  readonly found: HttpFindings;
  readonly headers: Readonly<Record<string, string>>;
  /** The server, as named on the command line. */
  readonly name: string;
  readonly checkup: Checkup;
  readonly invocation: Invocation;
}

/**
 * Checks whether the server requires a login, and whether clients can find that login in the server's metadata. Returns
 * the connection if a saved login or `--grant` opened one.
 */
export async function checkAuth(options: AuthCheckOptions): Promise<ExaminedConnection | undefined> {
  const { found, headers, checkup, invocation } = options;
  const { status } = found.answer;
  let connection: ExaminedConnection | undefined;
  await checkup.step(
    "auth",
    async (context) => {
      const own = Object.hasOwn(headers, "authorization");
      if (status === 403) throw new CheckFailure(forbidden(found));
      if (status !== 401) return own ? "the credentials are accepted" : "no login is needed";
      try {
        const { authorization: _refused, ...rest } = headers;
        const isGranted = invocation.options.text("grant") !== undefined;
        const kept = own ? undefined : savedLogins(headers, invocation.terminal.io);
        // Without a saved login, `oauth` starts no login here. It reads the metadata, and its error lists the steps.
        const auth = isGranted ? grantCredentials(invocation) : (kept ?? oauth({ registration: false }));
        connection = await openExamined(found.url, checkup, invocation, { headers: rest, auth });
        return isGranted ? "the token of --grant is accepted" : "the saved login is accepted";
      } catch (error) {
        if (context.signal.aborted || !McpError.is(error)) throw error;
        throw new CheckFailure(await refusal(options, error, context));
      }
    },
    { exit: EXIT.unauthorized },
  );
  return connection;
}

function forbidden({ answer: { body, headers }, url }: HttpFindings): Finding {
  const challenge = headers["www-authenticate"] ?? "";
  const scope = /scope="([^"]{1,200})"/.exec(challenge)?.[1];
  const reason = errorMessageIn(body);
  if (challenge.includes("insufficient_scope")) {
    return {
      code: "insufficient_scope",
      cause: `the credentials are valid, but lack ${scope === undefined ? "a scope" : `the scope ${scope}`}`,
      fix: "Log in again and request it with --scope.",
    };
  }
  return {
    code: "forbidden",
    cause: `${url} refuses these requests (403)${reason === "" ? "" : `: ${reason}`}`,
    fix: "Check the permissions of the credentials. A firewall or proxy may refuse this program, too.",
  };
}

/** Explains why the server refused the request, and what a client needs to get a token. */
async function refusal(options: AuthCheckOptions, error: McpError, context: StepContext): Promise<Finding> {
  const { found, headers, name } = options;
  const { url, answer } = found;
  const challenge = answer.headers["www-authenticate"];
  const { steps, reason } = authorizationData(error);
  const tried = steps.map(({ step, url: at, outcome }) => `${step}${at === undefined ? "" : ` ${at}`}: ${outcome}`);
  if (Object.hasOwn(headers, "authorization")) return { ...refusedToken(url, challenge, name), tried };
  if (challenge !== undefined && !/\b(?:bearer|dpop)\b/i.test(challenge)) return otherScheme(url, challenge);
  const hasDocument = steps.some(({ outcome }) => outcome === "found");
  if (!hasDocument && reason === "login_needed") return { ...noMetadata(url, challenge), tried };
  if (reason !== "login_needed") {
    const [cause = error.message] = error.message.split(". Tried:");
    const more = reason === "wrong_resource" ? " Behind a proxy, set `publicUrl`." : "";
    return { code: reason ?? error.kind, cause, fix: `${error.fix}${more}`, tried };
  }
  if (challenge === undefined) {
    context.warn(
      "no_challenge",
      "the 401 has no WWW-Authenticate header, which many clients need to find the login",
      'Send WWW-Authenticate: Bearer resource_metadata="…" with every 401.',
    );
  }
  const problem = await serverProblem(steps, options, context);
  return { ...(problem ?? loginNeeded(url, name)), tried };
}

interface AuthorizationData {
  readonly steps: readonly AuthorizationStep[];
  readonly reason: string | undefined;
}

function authorizationData({ data }: McpError): AuthorizationData {
  if (typeof data !== "object" || data === null) return { steps: [], reason: undefined };
  const steps = "steps" in data && Array.isArray(data.steps) ? (data.steps as AuthorizationStep[]) : [];
  const reason = "reason" in data && typeof data.reason === "string" ? data.reason : undefined;
  return { steps, reason };
}

function loginNeeded(url: string, name: string): Finding {
  return {
    code: "login_needed",
    cause: `${url} requires a login, and its login metadata is complete`,
    fix: `Run \`parley login ${name}\`, or pass a token: --header "Authorization: Bearer …".`,
  };
}

function refusedToken(url: string, challenge: string | undefined, name: string): Finding {
  const description = /error_description="([^"]{1,200})"/.exec(challenge ?? "")?.[1];
  return {
    code: "token_refused",
    cause: `${url} does not accept the token in the Authorization header${description === undefined ? "" : `: ${description}`}`,
    fix: `Pass a token that was issued for this server, or log in: \`parley login ${name}\`.`,
  };
}

function otherScheme(url: string, challenge: string): Finding {
  return {
    code: "other_scheme",
    cause: `${url} requires credentials that MCP does not define: ${challenge.slice(0, 100)}`,
    fix: 'Pass them yourself: --header "Authorization: …".',
  };
}

function noMetadata(url: string, challenge: string | undefined): Finding {
  const header = challenge === undefined ? "its 401 has no WWW-Authenticate header, and " : "";
  return {
    code: "no_auth_metadata",
    cause: `${url} requires a login, but does not say where: ${header}it publishes no protected-resource metadata (RFC 9728)`,
    fix: 'Publish /.well-known/oauth-protected-resource, and name it in WWW-Authenticate. Until then pass a token: --header "Authorization: Bearer …".',
  };
}

/** Time limit for reading the metadata of the authorization server again. */
const DOCUMENT_MS = 5_000;

/**
 * Finds what is missing in the metadata of the authorization server. Requests only a URL that `oauth` has already
 * accepted and read, so the server cannot direct this request to an arbitrary address.
 */
async function serverProblem(
  steps: readonly AuthorizationStep[],
  { checkup }: AuthCheckOptions,
  { signal, warn }: StepContext,
): Promise<Finding | undefined> {
  const at = steps.find(({ step, outcome }) => step === "authorization server metadata" && outcome === "found")?.url;
  if (at === undefined) return undefined;
  const probe = { url: at, method: "GET" as const, headers: { accept: "application/json" } };
  const answer = await sendProbe(probe, checkup.budget(DOCUMENT_MS), signal).catch(() => undefined);
  const document = jsonObject(answer?.body ?? "");
  if (document === undefined) return undefined;
  const methods = document["code_challenge_methods_supported"];
  if (!Array.isArray(methods) || !methods.includes("S256")) {
    return {
      code: "no_pkce",
      cause: `the authorization server does not announce PKCE with S256 (${at}): clients refuse to log in there`,
      fix: "List S256 in `code_challenge_methods_supported` of its metadata.",
    };
  }
  const registers = typeof document["registration_endpoint"] === "string";
  if (!registers && document["client_id_metadata_document_supported"] !== true) {
    warn(
      "no_registration",
      "the authorization server does not let clients register themselves",
      "Register a client there manually, and pass its id: `parley login --client-id <id>`.",
    );
  }
  return undefined;
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // Safe: each member is checked where it is read. If the document is an array, all these members are undefined.
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
