import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "@parley/mcp";
import { resourceServer } from "@parley/mcp/auth";
import { serveHttp } from "@parley/mcp/node";
import { expect, it, onTestFinished } from "vitest";
import { TestIssuer } from "../../../mcp/test/auth/test-issuer.js";
import { freePort } from "../../../mcp/test/free-port.js";
import { runParley } from "../kit/run-parley.js";
import { examine, statuses } from "./examine.js";

it("uses the login that parley login has kept, and asks for one before", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-doctor-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const issuer = await TestIssuer.start({});
  onTestFinished(() => void issuer.close());
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const server = new Server({ name: "shop", version: "1" }).tool("who", { description: "Says who asks" }, () => "ada");
  const handle = await serveHttp(server, { port, auth: resourceServer({ resource: url, issuer: issuer.issuer }) });
  onTestFinished(() => handle.close());
  const env = { PARLEY_HOME: folder };

  const before = await examine([url], { env });
  expect(before).toMatchObject({ code: 4, broken: { step: "auth", code: "login_needed" } });

  let visited: Promise<unknown> | undefined;
  let seen = "";
  const onStderr = (text: string) => {
    seen += text;
    const [address] = /http:\/\/\S+\/authorize\?\S+/.exec(seen) ?? [];
    if (address !== undefined) visited ??= fetch(address).then((page) => page.text());
  };
  const login = await runParley(["login", url, "--no-browser", "--port", String(await freePort())], { env, onStderr });
  await visited;
  expect(login.code).toBe(0);

  const after = await examine([url], { env });
  expect(after).toMatchObject({ code: 0, ok: true, server: { name: "shop" } });
  expect(statuses(after)).toMatchObject({ auth: "ok", handshake: "ok", tools: "ok" });
  expect(after.steps.find(({ step }) => step === "auth")?.detail).toBe("the saved login is accepted");
});
