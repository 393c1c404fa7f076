import { CheckFailure, type Checkup, type Finding, NotApplicable } from "./checkup.js";
import { discoverProbe, type ProbeAnswer, sendProbe } from "./http-probe.js";
import type { HttpFindings } from "./http-steps.js";
import { hostAndPort, isLoopback } from "./network-steps.js";

/** Time limit for one answer. */
const ANSWER_MS = 5_000;
/**
 * A host name that belongs to no server. A server that accepts it as Host or Origin accepts requests from every web
 * page.
 */
const FOREIGN_HOST = "rebinding.invalid";
/** Headers that a web page sends with a call, and that CORS must therefore allow. */
const PAGE_HEADERS = ["content-type", "mcp-protocol-version", "mcp-session-id", "authorization"];

/** Checks the rules for browsers: the validation of Host and Origin, and CORS. */
export async function checkBrowserRules(
  { url, answer, isLegacySse }: HttpFindings,
  headers: Readonly<Record<string, string>>,
  checkup: Checkup,
  origin: string | undefined,
): Promise<void> {
  await checkup.step("host", async ({ signal, warn }) => {
    const refusal = hostRefusal(answer, headers["host"] ?? new URL(url).host);
    if (refusal !== undefined) throw new CheckFailure(refusal);
    if (!isLoopback(hostAndPort(new URL(url)).host)) return "the server accepts this host";
    if (isLegacySse) throw new NotApplicable("not checked with the old transport");
    const foreign = async (name: string, value: string) =>
      sendProbe(
        discoverProbe(url, { ...without(headers, name), [name]: value }),
        checkup.budget(ANSWER_MS),
        signal,
      ).catch(
        // A connection closed without an answer is a refusal, too.
        () => undefined,
      );
    const [byHost, byOrigin] = [
      await foreign("host", FOREIGN_HOST),
      await foreign("origin", `https://${FOREIGN_HOST}`),
    ];
    const open = [isServed(byHost, answer) ? "Host" : "", isServed(byOrigin, answer) ? "Origin" : ""].filter(
      (one) => one !== "",
    );
    if (open.length === 0) return "unknown hosts and origins are refused";
    warn(
      "rebinding",
      `the server accepts any ${open.join(" and ")}: every web page in a browser on this machine can call it`,
      "Let the server refuse unknown hosts and origins, or require a login.",
    );
    return `any ${open.join(" and ")} is accepted`;
  });
  await checkup.step("cors", async ({ signal, warn }) => {
    const page = origin ?? "https://app.example";
    const asked = {
      origin: page,
      "access-control-request-method": "POST",
      "access-control-request-headers": PAGE_HEADERS.join(", "),
    };
    const host = headers["host"] === undefined ? {} : { host: headers["host"] };
    const probe = { url, method: "OPTIONS" as const, headers: { ...host, ...asked } };
    const preflight = await sendProbe(probe, checkup.budget(ANSWER_MS), signal).catch(() => undefined);
    const problem = corsProblem(preflight, page);
    if (problem === undefined) return `web pages from ${page} may call the server`;
    warn(problem.code, problem.cause, problem.fix);
    return `web pages from ${page} may not call the server`;
  });
}

/**
 * True if the server answered a request with a foreign Host or Origin with the same status as the usual request. That
 * status may be an error, because the server may speak only other revisions. 401 and 403 do not count, because with
 * them the server refuses both requests.
 */
function isServed(foreign: ProbeAnswer | undefined, usual: ProbeAnswer): boolean {
  return foreign?.status === usual.status && usual.status !== 401 && usual.status !== 403;
}

function hostRefusal({ status, body }: ProbeAnswer, host: string): Finding | undefined {
  const isAboutHost = /\bhosts?\b|\borigins?\b/i.test(body);
  if (status !== 421 && !(status === 403 && isAboutHost)) return undefined;
  const reason = errorMessageIn(body);
  return {
    code: "host_refused",
    cause: `the server refuses requests for ${host} (${status})${reason === "" ? "" : `: ${reason}`}`,
    fix: "In the server's configuration, allow the address that clients use: set `publicUrl` or `allowedHosts` of `serveHttp`, or the equivalent option of the library that the server uses.",
  };
}

/**
 * Extracts the error message from a JSON body, or returns a plain text. Empty for HTML and for JSON without an error.
 */
export function errorMessageIn(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    const error = typeof value === "object" && value !== null && "error" in value ? value.error : undefined;
    const message = typeof error === "object" && error !== null && "message" in error ? error.message : error;
    return typeof message === "string" ? message.slice(0, 300) : "";
  } catch {
    return /^\s*</.test(body) ? "" : body.trim().slice(0, 300);
  }
}

function corsProblem(preflight: ProbeAnswer | undefined, page: string): Finding | undefined {
  const { status = "nothing", headers = {} } = preflight ?? {};
  const allowed = headers["access-control-allow-origin"];
  if (allowed !== "*" && allowed !== page) {
    return {
      code: "cors_disabled",
      cause: `web pages from ${page} cannot use the server: its preflight response (${status}) does not allow this origin in Access-Control-Allow-Origin`,
      fix: 'If web pages should use it, allow their origin: `cors: { origins: ["https://app.example"] }` of serveHttp. Otherwise ignore this.',
    };
  }
  const names = (headers["access-control-allow-headers"] ?? "").toLowerCase().split(/[\s,]+/);
  const missing = PAGE_HEADERS.filter(
    (name) => !names.includes(name) && !(names.includes("*") && name !== "authorization"),
  );
  if (missing.length === 0) return undefined;
  return {
    code: "cors_headers",
    cause: `web pages from ${page} may call the server, but not send ${missing.join(", ")}`,
    fix: "Add these names to Access-Control-Allow-Headers.",
  };
}

function without(headers: Readonly<Record<string, string>>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([one]) => one.toLowerCase() !== name));
}
