import { BrokenLink, type Checkup, type Finding, NotApplicable } from "./checkup.js";
import { discoverProbe, type ProbeAnswer, sendProbe } from "./http-probe.js";
import type { HttpFindings } from "./http-steps.js";
import { isLoopback, placeOf } from "./network-steps.js";

/** How long one answer may take. */
const ANSWER_MS = 5_000;
/** A name that no page honestly has: what a server answers to it, it answers to every page. */
const STRANGER = "rebinding.invalid";
/** Headers that a page sends with a call. */
const PAGE_HEADERS = ["content-type", "mcp-protocol-version", "mcp-session-id", "authorization"];

/** Looks at what browsers look at: the checks of Host and Origin, and CORS. */
export async function walkBrowserRules(
  { url, answer, isLegacySse }: HttpFindings,
  headers: Readonly<Record<string, string>>,
  checkup: Checkup,
  origin: string | undefined,
): Promise<void> {
  await checkup.step("host", async ({ signal, warn }) => {
    const refusal = hostRefusal(answer, headers["host"] ?? new URL(url).host);
    if (refusal !== undefined) throw new BrokenLink(refusal);
    if (!isLoopback(placeOf(new URL(url)).host)) return "the server accepts this name";
    if (isLegacySse) throw new NotApplicable("not looked at with the old transport");
    const foreign = async (name: string, value: string) =>
      sendProbe(
        discoverProbe(url, { ...without(headers, name), [name]: value }),
        checkup.budget(ANSWER_MS),
        signal,
      ).catch(
        // A connection that is closed without an answer is a refusal, too.
        () => undefined,
      );
    const [byHost, byOrigin] = [await foreign("host", STRANGER), await foreign("origin", `https://${STRANGER}`)];
    const open = [isServed(byHost, answer) ? "Host" : "", isServed(byOrigin, answer) ? "Origin" : ""].filter(
      (one) => one !== "",
    );
    if (open.length === 0) return "strange hosts and origins are refused";
    warn(
      "rebinding",
      `the server takes requests of every ${open.join(" and ")}, so that a page in a browser on this machine can call it`,
      "Let it refuse what it does not know, or demand a login.",
    );
    return `every ${open.join(" and ")} is accepted`;
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
    if (problem === undefined) return `pages of ${page} may call`;
    warn(problem.code, problem.cause, problem.fix);
    return `pages of ${page} may not call`;
  });
}

/** Whether a stranger gets what everybody gets; that may be an error, where the server knows other revisions. */
function isServed(foreign: ProbeAnswer | undefined, usual: ProbeAnswer): boolean {
  return foreign?.status === usual.status && usual.status !== 401 && usual.status !== 403;
}

function hostRefusal({ status, body }: ProbeAnswer, host: string): Finding | undefined {
  const isAboutHost = /\bhosts?\b|\borigins?\b/i.test(body);
  if (status !== 421 && !(status === 403 && isAboutHost)) return undefined;
  const reason = saidIn(body);
  return {
    code: "host_refused",
    cause: `the server refuses requests for ${host} (${status})${reason === "" ? "" : `: ${reason}`}`,
    fix: "Tell the server the address that clients use: `publicUrl` or `allowedHosts` of serveHttp, or what its library calls it.",
  };
}

/** What an error in JSON-RPC or plain text says. */
export function saidIn(body: string): string {
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
      cause: `pages of ${page} cannot use the server: it answered their preflight with ${status} and without Access-Control-Allow-Origin`,
      fix: 'If pages are to use it, allow their origin: `cors: { origins: ["https://app.example"] }` of serveHttp. Otherwise nothing.',
    };
  }
  const names = (headers["access-control-allow-headers"] ?? "").toLowerCase().split(/[\s,]+/);
  const missing = PAGE_HEADERS.filter(
    (name) => !names.includes(name) && !(names.includes("*") && name !== "authorization"),
  );
  if (missing.length === 0) return undefined;
  return {
    code: "cors_headers",
    cause: `pages of ${page} may call, but not send ${missing.join(", ")}`,
    fix: "Add these names to Access-Control-Allow-Headers.",
  };
}

function without(headers: Readonly<Record<string, string>>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([one]) => one.toLowerCase() !== name));
}
