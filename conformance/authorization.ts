import { Server } from "@parley/mcp";
import { oauthProxy } from "@parley/mcp/auth";
import { serveHttp } from "@parley/mcp/node";
import { TestIssuer } from "../packages/mcp/test/auth/test-issuer.js";
import { type Check, runReferee } from "./referee.js";
import { judge, type Verdict } from "./verdict.js";

/** Checks of recommendations that are not followed, with the reason. */
export const NOT_FOLLOWED: Readonly<Record<string, string>> = {
  "authorization-server-metadata-cimd": "the proxy fetches no documents from addresses that strangers choose",
};

const LEG = "authorization server";
/** The referee puts the role before the name. */
const FOLDER = /^authorization-server-/;

/** The scenarios for authorization servers, against a server behind the proxy. The referee's user is played by `agree`. */
export async function judgeAuthorization(): Promise<Verdict[]> {
  const provider = await TestIssuer.start();
  const [port, callbackPort] = [await freePort(), await freePort()];
  const origin = `http://127.0.0.1:${port}`;
  const auth = oauthProxy({
    resource: `${origin}/mcp`,
    secret: "a secret of more than thirty-two characters",
    upstream: { issuer: provider.issuer, client: { clientId: "the-one-app", clientSecret: "s3cret" } },
    identify: () => ({ subject: "ada" }),
  });
  const handle = await serveHttp(new Server({ name: "protected", version: "1" }), { port, auth });
  try {
    const clientId = await register(origin, `http://127.0.0.1:${callbackPort}/callback`);
    const target = [
      "--url",
      origin,
      "--client-id",
      clientId,
      "--resource",
      `${origin}/mcp`,
      "-p",
      String(callbackPort),
    ];
    let isAsked = false;
    const { exitCode, scenarios, output } = await runReferee(["authorization", ...target], 60_000, (said) => {
      const [url] = /^http\S+\/oauth\/authorize\?\S+$/m.exec(said) ?? [];
      if (url === undefined || isAsked) return;
      isAsked = true;
      agree(new URL(url)).catch((error: unknown) => console.log(`the login failed: ${String(error)}`));
    });
    const verdicts = [...scenarios].map(([name, checks]) => judge(LEG, name.replace(FOLDER, ""), followed(checks)));
    if (verdicts.length === 2 && exitCode === 0) return verdicts;
    const problems = [`the referee ended with ${exitCode} after ${verdicts.length} scenarios: ${output.slice(-800)}`];
    return [...verdicts, { leg: LEG, scenario: "(all)", problems }];
  } finally {
    await handle.close();
    provider.close();
  }
}

function followed(checks: readonly Check[]): Check[] {
  return checks.filter(({ id, status }) => status !== "WARNING" || !Object.hasOwn(NOT_FOLLOWED, id));
}

async function freePort(): Promise<number> {
  const probe = await serveHttp(new Server({ name: "probe", version: "1" }), { port: 0 });
  await probe.close();
  return probe.port;
}

async function register(origin: string, redirectUri: string): Promise<string> {
  const body = JSON.stringify({ redirect_uris: [redirectUri] });
  const response = await fetch(`${origin}/oauth/register`, { method: "POST", body });
  // The proxy answers a registration in this form.
  return ((await response.json()) as { client_id: string }).client_id;
}

/** What a user's browser does: agrees on the page, and follows every redirect to the referee's own page. */
async function agree(url: URL): Promise<void> {
  const asked = await fetch(url);
  const cookie = asked.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const [, request = ""] = /name="request" value="([^"]+)"/.exec(await asked.text()) ?? [];
  const form = new URLSearchParams({ request, answer: "allow" });
  const headers = { cookie, origin: url.origin };
  const step = { method: "POST", headers, body: form, redirect: "manual" } as const;
  let response = await fetch(new URL("/oauth/consent", url), step);
  for (let hops = 0; hops < 5 && response.headers.has("location"); hops++) {
    const next = response.headers.get("location") ?? "";
    response = await fetch(next, { headers: { cookie }, redirect: "manual" });
  }
}
