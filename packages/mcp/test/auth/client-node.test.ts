import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { connect as connectTcp } from "node:net";
import { browserLogin, openInBrowser } from "@parley/mcp/login";
import { describe, expect, it, onTestFinished } from "vitest";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import { NEVER_OPENED, SHELL_PAYLOADS } from "./client-attacks/shell-payloads.js";
import { attempt, ClientTarget } from "./client-target.js";

describe.skipIf(process.platform !== "linux")("SEC-06: an address that is opened", () => {
  const started: [string, readonly string[]][] = [];
  const start = (command: string, args: readonly string[]) => void started.push([command, args]);
  const places = (payload: string) => [`https://a.example/${payload}`, `https://a.example/?x=${payload}`];

  it.each(SHELL_PAYLOADS)("is one argument, whatever is in it: %s", (payload) => {
    for (const address of places(payload)) {
      started.length = 0;
      openInBrowser(address, start);
      expect(started).toEqual([["xdg-open", [new URL(address).href]]]);
      expect(started[0]?.[1][0]).toMatch(/^https:\/\/a\.example\/[^\s"<>]*$/);
    }
  });

  it.each(NEVER_OPENED)("is https, or on this machine: not %j", (address) => {
    started.length = 0;
    expect(() => openInBrowser(address, start)).toThrow("this address must not be opened");
    expect(started).toEqual([]);
  });
});

/** A login that waits for its redirect. */
async function waiting(options: { port?: number; path?: string; timeoutMs?: number } = {}) {
  const login = browserLogin({ open: () => {}, ...options });
  if (login.kind !== "redirect") throw new Error("a browser login is a redirect");
  const begun = await login.begin(new AbortController().signal);
  onTestFinished(() => begun.close?.());
  const url = new URL("https://as.example/authorize?state=right");
  const redirect = new URL(begun.redirectUri);
  let isDone = false;
  const done = begun.visit(url).finally(() => {
    isDone = true;
  });
  done.catch(() => {});
  return { redirect, done, isDone: () => isDone, close: () => begun.close?.() };
}

function send(port: string, path: string, method = "GET", headers: Record<string, string> = {}) {
  return new Promise<{ status: number | undefined; body: string; headers: Record<string, unknown> }>(
    (resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, path, method, headers }, (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          body += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode, body, headers: response.headers }));
      });
      sent.on("error", reject);
      sent.end();
    },
  );
}

describe("AUTHC-15: the listener of a login", () => {
  it.each<[string, string, string, Record<string, string>]>([
    ["another path", "/other?state=right&code=1", "GET", {}],
    ["a deeper path", "/callback/x?state=right&code=1", "GET", {}],
    ["a path in another case", "/Callback?state=right&code=1", "GET", {}],
    ["no state", "/callback?code=1", "GET", {}],
    ["an empty state", "/callback?state=&code=1", "GET", {}],
    ["another state", "/callback?state=wrong&code=1", "GET", {}],
    ["a POST", "/callback?state=right&code=1", "POST", {}],
    ["a HEAD", "/callback?state=right&code=1", "HEAD", {}],
    ["an OPTIONS", "/callback?state=right&code=1", "OPTIONS", {}],
    ["another host", "/callback?state=right&code=1", "GET", { host: "evil.example" }],
    ["a rebound name with the port", "/callback?state=right&code=1", "GET", { host: "evil.example:PORT" }],
    ["a host without the port", "/callback?state=right&code=1", "GET", { host: "127.0.0.1" }],
    ["an origin", "/callback?state=right&code=1", "GET", { origin: "https://evil.example" }],
    ["an origin of null", "/callback?state=right&code=1", "GET", { origin: "null" }],
    ["a target that is no URL", "//", "GET", {}],
    ["a target with a broken host", "http://[?state=right", "GET", {}],
  ])("does not answer to %s, and goes on waiting", async (_name, path, method, headers) => {
    const { redirect, done, isDone } = await waiting();
    const named = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace("PORT", redirect.port)]),
    );
    expect((await send(redirect.port, path, method, named)).status).toBe(404);
    expect(isDone()).toBe(false);
    await send(redirect.port, "/callback?state=right&code=2");
    expect((await done).get("code")).toBe("2");
  });

  it("takes one redirect, and shows nothing of it", async () => {
    const { redirect, done } = await waiting();
    const first = await send(redirect.port, "/callback?state=right&code=canary-1&error_description=<script>");
    const second = await send(redirect.port, "/callback?state=right&code=2").catch(() => ({ status: 404 }));
    expect([first.status, second.status]).toEqual([200, 404]);
    expect((await done).get("code")).toBe("canary-1");
    expect(first.body).not.toMatch(/canary|<script/);
    expect(first.headers).toMatchObject({
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    });
  });

  it("listens on this machine alone, on a port that is free, and only during the login", async () => {
    const { redirect, close } = await waiting();
    expect(redirect.hostname).toBe("127.0.0.1");
    close();
    const refused = await new Promise((resolve) => {
      connectTcp(Number(redirect.port), "127.0.0.1")
        .on("error", resolve)
        .on("connect", () => resolve("connected"));
    });
    expect(refused).toMatchObject({ code: "ECONNREFUSED" });
  });

  it("says which port is taken", async () => {
    const { redirect } = await waiting();
    const second = waiting({ port: Number(redirect.port) });
    await expect(second).rejects.toMatchObject({
      kind: "connect_failed",
      message: expect.stringContaining(redirect.port),
    });
  });

  it("does not wait for ever", async () => {
    const { done } = await waiting({ timeoutMs: 20 });
    await expect(done).rejects.toMatchObject({
      kind: "authorization_failed",
      message: "the user did not log in within 0.02 s",
    });
  });

  it("shows no page of a login that was given up before", async () => {
    const opened: string[] = [];
    const login = browserLogin({ open: (url) => void opened.push(url) });
    if (login.kind !== "redirect") throw new Error("a browser login is a redirect");
    const givenUp = new AbortController();
    const begun = await login.begin(givenUp.signal);
    onTestFinished(() => begun.close?.());
    givenUp.abort(new Error("given up"));
    await expect(begun.visit(new URL("https://as.example/authorize?state=right"))).rejects.toThrow("given up");
    expect(opened).toEqual([]);
  });

  it("AUTHC-31: is registered as a native client, and ends a whole login", async () => {
    const target = await ClientTarget.start();
    const pages: string[] = [];
    const login = browserLogin({
      async open(url) {
        pages.push(url);
        // The browser follows the redirect to the listener.
        await fetch(url);
      },
    });
    expect((await attempt(target, { oauth: { login } })).error).toBeUndefined();
    expect(new URL(pages[0] ?? "").searchParams.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  });
});

describe("a process whose login has ended", () => {
  it.each([
    ["an opener that fails", "no browser"],
    ["a pasted address", "ada"],
    ["a redirect while stdin is read", "ada"],
    ["nobody who waits", "cancelled"],
    ["a page that is left open", "cancelled"],
  ])("ends by itself: %s", async (how, printed) => {
    const target = await ClientTarget.start();
    const program = await bundleFixture(new URL("./client-fixtures/ending-login.ts", import.meta.url));
    // The input stays open, as that of a terminal does. Without an end the process waits for five minutes.
    const child = spawn(process.execPath, [program, target.url, how], { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += String(chunk);
    });
    const [code] = await once(child, "close");
    expect(code).toBe(0);
    expect(output).toContain(printed);
  });
});
