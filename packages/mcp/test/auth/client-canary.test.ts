import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { connect, McpError, Server } from "@parley/mcp";
import { clientCredentials, memoryTokenStore, oauth, resourceServer } from "@parley/mcp/auth";
import { nodeHandler } from "@parley/mcp/node";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { HOSTILE_TOKENS } from "./client-attacks/hostile-answers.js";
import { attempt, ClientTarget, open } from "./client-target.js";
import { TestIssuer } from "./test-issuer.js";

/** Everything that a program, its log or its operator could see. */
class Seen {
  readonly texts: string[] = [];

  add(value: unknown): void {
    this.texts.push(inspect(value, { depth: 10, showHidden: true }), String(value));
    if (value instanceof Error) this.texts.push(value.message, value.stack ?? "");
    try {
      this.texts.push(JSON.stringify(value) ?? "");
    } catch {
      // What cannot be written cannot be leaked that way.
    }
  }

  /** Watches what is printed until the test ends. */
  watch(): void {
    const spies = [process.stderr, process.stdout].map((stream) =>
      vi.spyOn(stream, "write").mockImplementation((chunk) => {
        this.texts.push(String(chunk));
        return true;
      }),
    );
    const warned = (warning: Error) => this.add(warning);
    process.on("warning", warned);
    onTestFinished(() => {
      for (const spy of spies) spy.mockRestore();
      process.off("warning", warned);
    });
  }

  /** The secrets that can be seen. */
  leaks(secrets: readonly string[]): string[] {
    const all = this.texts.join("\n");
    return secrets.filter((secret) => secret.length >= 6 && all.includes(secret));
  }
}

const SECRET_PARAMETERS = [
  "code",
  "code_verifier",
  "refresh_token",
  "client_secret",
  "client_assertion",
  "assertion",
  "token",
];

/** Everything secret that an issuer was sent. */
function secretsOf({ requests }: TestIssuer): string[] {
  return requests.flatMap(({ form, headers }) => [
    ...SECRET_PARAMETERS.flatMap((name) => form.getAll(name)),
    ...(headers.authorization === undefined ? [] : [headers.authorization.replace(/^\w+ /, "")]),
  ]);
}

const bearersOf = ({ requests }: ClientTarget) =>
  requests.flatMap(({ headers }) => (headers.authorization === undefined ? [] : [headers.authorization.slice(7)]));

describe("no token, code, verifier or secret is seen", () => {
  it("of logins, refreshes, step-ups and logouts that succeed", async () => {
    const seen = new Seen();
    seen.watch();
    const secrets: string[] = [];
    for (const revision of ["2026-07-28", "2025-11-25"] as const) {
      const target = await ClientTarget.start({}, { rotates: true, expiresIn: 20 });
      const oauthOptions = { client: { clientId: "mine", clientSecret: "canary-secret" }, store: memoryTokenStore() };
      const onWarning = (warning: unknown) => seen.add(warning);
      const opened = await open(target, { oauth: oauthOptions, connect: { revisions: [revision], onWarning } });
      opened.client.on("notification", (notification) => seen.add(notification));
      for (let round = 0; round < 3; round++) seen.add(await opened.client.call("who"));
      for (const one of [opened.auth, opened.client]) seen.add(one);
      await opened.auth.logout(target.url);
      secrets.push(...secretsOf(target.issuer), ...bearersOf(target));
    }
    expect(secrets.length).toBeGreaterThan(20);
    expect(seen.leaks(secrets)).toEqual([]);
  });

  it("of flows that fail, even when the server repeats what it was sent", async () => {
    const seen = new Seen();
    seen.watch();
    const secrets: string[] = ["canary-access", "canary-secret"];
    const client = { clientId: "mine", clientSecret: "canary-secret" };
    for (const answer of HOSTILE_TOKENS) {
      const target = await ClientTarget.start(
        {},
        {
          intercept({ path }, response) {
            if (path !== "/token") return false;
            response.writeHead(answer.status ?? 200, {
              "content-type": answer.type ?? "application/json",
              ...answer.headers,
            });
            response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
            return true;
          },
        },
      );
      seen.add((await attempt(target, { oauth: { client } })).error);
      secrets.push(...secretsOf(target.issuer));
    }
    for (const grant of [undefined, clientCredentials(client)]) {
      const target = await ClientTarget.start(
        {},
        {
          intercept({ path, form }, response) {
            if (path !== "/token") return false;
            const description = `unknown: ${[...form.values()].join(" ")} canary-secret`;
            response.writeHead(400, { "content-type": "application/json" });
            response.end(JSON.stringify({ error: "invalid_grant", error_description: description }));
            return true;
          },
        },
      );
      const { error } = await attempt(target, { oauth: { client, grant } });
      expect(McpError.is(error) && error.message).toMatch("invalid_grant: unknown: ");
      seen.add(error);
      secrets.push(...secretsOf(target.issuer));
    }
    expect(secrets.length).toBeGreaterThan(60);
    expect(seen.leaks(secrets)).toEqual([]);
  });

  it("at a protected server, in its request log, its errors and its handlers' contexts", async () => {
    const seen = new Seen();
    seen.watch();
    const issuer = await TestIssuer.start({ rotates: true });
    const http = createServer();
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    // A server that listens on TCP has an address object.
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
    const server = new Server({ name: "shop", version: "1" }).tool("who", (_args, ctx) => {
      seen.add(ctx.auth);
      seen.add(ctx);
      throw new Error("the till is jammed");
    });
    const bearers: string[] = [];
    const handler = nodeHandler(server, {
      auth: resourceServer({ resource: url, issuer: issuer.issuer }),
      onRequest: (entry) => seen.add(entry),
    });
    http.on("request", (request, response) => {
      if (request.headers.authorization !== undefined) bearers.push(request.headers.authorization.slice(7));
      handler(request, response);
    });
    onTestFinished(async () => {
      issuer.close();
      http.close();
      http.closeAllConnections();
      await handler.close();
    });
    const client = await connect(url, { revisions: ["2025-11-25"], auth: oauth({ login: issuer.login() }) });
    seen.add(await client.call("who").catch((error: unknown) => error));
    await client.close();
    expect(bearers.length).toBeGreaterThan(1);
    const signatures = bearers.map((token) => token.split(".")[2] ?? token);
    expect(seen.leaks([...secretsOf(issuer), ...bearers, ...signatures])).toEqual([]);
  });
});
