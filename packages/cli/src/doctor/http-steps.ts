import { CheckFailure, type Checkup, type Finding, type StepContext } from "./checkup.js";
import { discoverProbe, isJsonRpc, type Probe, type ProbeAnswer, ProbeTimeout, sendProbe } from "./http-probe.js";
import { codeOf, hostAndPort, speaksTls } from "./network-steps.js";

/** The result of the HTTP step. */
export interface HttpFindings {
  readonly answer: ProbeAnswer;
  /** The address that answered, after redirects that clients follow. */
  readonly url: string;
  /** True if the server offers only HTTP with SSE, the transport of the first revision. */
  readonly isLegacySse: boolean;
}

/** Time limit for one answer. */
const ANSWER_MS = 10_000;
/** Maximum number of redirects that clients follow. The step fails if there are more. */
const MAX_REDIRECTS = 5;

/** Sends the first request of a client, and checks the HTTP response. Returns undefined if the step failed. */
export async function checkHttp(
  url: string,
  headers: Readonly<Record<string, string>>,
  checkup: Checkup,
): Promise<HttpFindings | undefined> {
  let found: HttpFindings | undefined;
  await checkup.step("http", async (context) => {
    const { answer, at } = await followRedirects(url, headers, checkup, context);
    const isLegacySse = await isOldTransport(at, answer, headers, checkup, context);
    if (!isLegacySse) await checkAnswer(at, answer, headers, checkup, context);
    found = { answer, url: at, isLegacySse };
    if (!isLegacySse) return `POST answered with ${answer.status}${answer.type === "" ? "" : ` ${answer.type}`}`;
    context.warn(
      "legacy_sse",
      "the server offers only HTTP with SSE, the transport of the first revision, which more and more clients drop",
      "Serve Streamable HTTP. Updating the server's library usually adds it.",
    );
    return "GET opened an event stream of the old transport";
  });
  return found;
}

async function followRedirects(
  url: string,
  headers: Readonly<Record<string, string>>,
  checkup: Checkup,
  context: StepContext,
): Promise<{ answer: ProbeAnswer; at: string }> {
  let at = url;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const answer = await sendDiscover(at, headers, checkup, context);
    if (answer.status < 300 || answer.status > 399) return { answer, at };
    at = redirectTarget(at, answer);
  }
  throw new CheckFailure({
    code: "redirect_loop",
    cause: `${url} redirects more than ${MAX_REDIRECTS} times, last to ${at}`,
    fix: "Connect to the final address, or correct the redirects of the server or its proxy.",
  });
}

/**
 * Returns the target of a redirect that clients follow: 307 or 308 to the same origin. Throws for any other redirect.
 */
function redirectTarget(from: string, { status, headers: { location = "" } }: ProbeAnswer): string {
  // An empty reference would be the same address again.
  const to = location !== "" && URL.canParse(location, from) ? new URL(location, from) : undefined;
  const isFollowed = (status === 307 || status === 308) && to?.origin === new URL(from).origin;
  if (isFollowed) return to.href;
  if (to === undefined) {
    throw new CheckFailure({
      code: "redirected",
      cause: `${from} redirects (${status}) without a target`,
      fix: "Let the server or its proxy send the address in `Location`, or answer the request itself.",
    });
  }
  const isLogin = /log-?in|sign-?in|auth/i.test(to.pathname);
  throw new CheckFailure({
    code: "redirected",
    cause: `${from} redirects (${status}) to ${to.href.slice(0, 200)}, which clients do not follow with a POST`,
    fix: isLogin
      ? "Let the server answer 401 instead of redirecting to a login page."
      : "Connect to the final address, or let the server redirect with 307 or 308 within its origin.",
  });
}

async function sendDiscover(
  url: string,
  headers: Readonly<Record<string, string>>,
  checkup: Checkup,
  { signal }: StepContext,
): Promise<ProbeAnswer> {
  const ms = checkup.budget(ANSWER_MS);
  try {
    return await sendProbe(discoverProbe(url, headers), ms, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const target = new URL(url);
    if (target.protocol === "http:" && (await speaksTls(hostAndPort(target), checkup.budget(ANSWER_MS), signal))) {
      throw new CheckFailure(httpsNeeded(target));
    }
    throw new CheckFailure(requestFinding(target, error, ms));
  }
}

function httpsNeeded({ host }: URL): Finding {
  return {
    code: "https_needed",
    cause: `${host} expects TLS on this port, but the URL says plain http`,
    fix: "Write https:// instead of http://.",
  };
}

function requestFinding({ host }: URL, error: unknown, ms: number): Finding {
  if (error instanceof ProbeTimeout) {
    return {
      code: "http_no_answer",
      cause: `${host} accepted the request, but did not answer within ${ms} ms`,
      fix: "Check the server's log. A proxy in front of it may be waiting for a server that is down.",
    };
  }
  const code = codeOf(error);
  if (code.startsWith("HPE_")) {
    return {
      code: "not_http",
      cause: `${host} does not answer with HTTP (${code})`,
      fix: "Check the port: another kind of service listens there.",
    };
  }
  return {
    code: "connection_lost",
    cause: `${host} closed the connection without an answer (${code})`,
    fix: "Check the server's log and the port, and that no proxy closes the connection.",
  };
}

/** Statuses with which servers of the old transport reject a POST. */
const OLD_REFUSALS: ReadonlySet<number> = new Set([400, 404, 405]);

/** True if a GET opens an event stream of the old transport. Clients try a GET if the server rejects their POST. */
async function isOldTransport(
  url: string,
  answer: ProbeAnswer,
  headers: Readonly<Record<string, string>>,
  checkup: Checkup,
  { signal }: StepContext,
): Promise<boolean> {
  if (!OLD_REFUSALS.has(answer.status) || isJsonRpc(answer)) return false;
  const ask = { url, method: "GET" as const, headers: { accept: "text/event-stream", ...headers } };
  const stream = await sendProbe(ask, checkup.budget(ANSWER_MS), signal).catch(() => undefined);
  return stream !== undefined && isOldStream(stream);
}

/**
 * Throws for answers that a working MCP server would not give. Accepts 401 and 403, which the steps `auth` and `host`
 * examine, and other 4xx statuses without an HTML page.
 */
async function checkAnswer(
  url: string,
  answer: ProbeAnswer,
  headers: Readonly<Record<string, string>>,
  checkup: Checkup,
  context: StepContext,
): Promise<void> {
  const { status, type } = answer;
  if (status === 401 || status === 403 || isJsonRpc(answer)) return;
  if (
    status === 400 &&
    /plain HTTP request was sent to HTTPS port|client sent an HTTP request to an HTTPS/i.test(answer.body)
  ) {
    throw new CheckFailure(httpsNeeded(new URL(url)));
  }
  if (status === 404 || status === 405 || status === 410) {
    const other = status === 405 ? undefined : await otherPath(url, headers, checkup, context);
    throw new CheckFailure(wrongPath(url, status, other));
  }
  if (status >= 500 || status === 429) throw new CheckFailure(failing(url, status, answer.body));
  if (type === "text/html" || /^\s*<(?:!doctype html|html)/i.test(answer.body))
    throw new CheckFailure(page(url, status));
  if (status === 200 && type !== "text/event-stream") throw new CheckFailure(notMcp(url, answer));
}

/** Tries `/mcp` and `/sse`, the usual paths of MCP servers. Returns the first URL at which a server answers. */
async function otherPath(
  url: string,
  headers: Readonly<Record<string, string>>,
  checkup: Checkup,
  { signal }: StepContext,
): Promise<string | undefined> {
  const [usual, old] = [new URL("/mcp", url).href, new URL("/sse", url).href];
  const ask = (probe: Probe) => sendProbe(probe, checkup.budget(ANSWER_MS), signal).catch(() => undefined);
  if (usual !== url) {
    const answer = await ask(discoverProbe(usual, headers));
    if (answer !== undefined && (isJsonRpc(answer) || answer.status === 401)) return usual;
  }
  const stream = await ask({ url: old, method: "GET", headers: { accept: "text/event-stream", ...headers } });
  return stream !== undefined && isOldStream(stream) ? old : undefined;
}

function isOldStream({ status, body }: ProbeAnswer): boolean {
  return status === 200 && /^event:\s*endpoint$/m.test(body.replaceAll("\r", ""));
}

function wrongPath(url: string, status: number, other: string | undefined): Finding {
  const { pathname, host } = new URL(url);
  const advice = "Correct the path of the URL; MCP servers often listen at /mcp.";
  const fix = other === undefined ? advice : `Use ${other}: a server answers there.`;
  if (status === 405) return { code: "no_post", cause: `${host} does not accept a POST at ${pathname} (405)`, fix };
  return { code: "not_found", cause: `${host} has nothing at ${pathname} (${status})`, fix };
}

function failing(url: string, status: number, body: string): Finding {
  const { host } = new URL(url);
  const details = /^\s*</.test(body) ? "" : `: ${body.trim().slice(0, 200)}`;
  if (status === 429 || status === 503) {
    return {
      code: "overloaded",
      cause: `${host} accepts no requests at the moment (${status})${details}`,
      fix: "Wait and try again. If that does not help, check the server's log and its limits.",
    };
  }
  if (status === 502 || status === 504) {
    return {
      code: "bad_gateway",
      cause: `the proxy at ${host} cannot reach the server behind it (${status})`,
      fix: "Start the server, and check the address to which the proxy forwards.",
    };
  }
  return {
    code: "server_error",
    cause: `the server at ${host} failed (${status})${details}`,
    fix: "Check the server's log for the error.",
  };
}

function page(url: string, status: number): Finding {
  return {
    code: "html_page",
    cause: `${url} answers with an HTML page (${status}), not with MCP messages`,
    fix: "Use the address of the MCP endpoint, often the same host with the path /mcp.",
  };
}

function notMcp(url: string, { type, body }: ProbeAnswer): Finding {
  const what = type === "" ? "content without a type" : type;
  return {
    code: "not_mcp",
    cause: `${url} answers with ${what} that is not an MCP message: ${JSON.stringify(body.trim().slice(0, 80))}`,
    fix: "Check that the URL is an MCP endpoint, and that no proxy answers instead.",
  };
}
