import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startPeer } from "../../../mcp/test/interop/peer-process.js";
import { peersInstalled } from "../../../mcp/test/mounts/peer-packages.js";
import type { CopiedRequest } from "../../src/copy/copied-request.js";
import { copyAsCurl } from "../../src/copy/copy-as-curl.js";
import { type DrivenEngine, driveEngine } from "../engine/opened-engine.js";
import { HOSTILE_ARGUMENTS } from "./copied-calls.js";
import { AUTHORIZATION, type EchoServer, startEchoServer } from "./echo-server.js";
import { runLines, SHELLS } from "./run-lines.js";

const hasCurl = spawnSync("curl", ["--version"]).status === 0;
if (!hasCurl) console.info("copies for curl over HTTP+SSE: curl is not installed, so none was run");
if (!peersInstalled)
  console.info("the peers are not installed (npm run peers); no copy was run against server-everything");
const EVERYTHING = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";

const TEAM = 'it\'s "us" $HOME';
/** What was typed as a header is a secret of the user, so that a copy has a variable for it. */
const SECRETS = { AUTHORIZATION, X_TEAM_SECRET: TEAM };

const run = (shell: string, lines: string) => runLines(shell, lines, { ...SECRETS, NO_PROXY: "*" });

/** Calls a tool at an address, as the page does, and copies that request in a form. */
async function copiedCall(
  url: string,
  call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
  more: { transport?: "http" | "sse"; headers?: Record<string, string> } = {},
): Promise<{ copy(form: "curl" | "typescript", label?: string): Promise<string> }> {
  const engine: DrivenEngine = driveEngine();
  const { connection } = await engine.act("connectUrl", { url, ...more });
  await engine.reaches(connection, "ready");
  const { call: id } = await engine.act("call", { connection, request: { kind: "tool", ...call } });
  await engine.when(({ calls }) => calls.find((one) => one.id === id && one.status === "done"));
  const sent = (label: string) =>
    engine.entries().findLast((entry) => entry.label === label && entry.direction === "sent");
  const copy = async (form: "curl" | "typescript", label = "tools/call") =>
    (await engine.act("copy", { seq: sent(label)?.seq ?? 0, form })).text;
  return { copy };
}

describe("a request over HTTP+SSE that is copied for curl", () => {
  let server: EchoServer;
  beforeAll(async () => {
    server = await startEchoServer();
  });
  afterAll(() => server.close());

  it.skipIf(!hasCurl)("opens a stream, shakes hands and prints the answer, in every shell", async () => {
    const headers = { Authorization: AUTHORIZATION, "X-Team": TEAM };
    const call = { name: "echo", arguments: HOSTILE_ARGUMENTS };
    const { copy } = await copiedCall(server.sseUrl, call, { transport: "sse", headers });
    expect(server.asked.splice(0)).toEqual([HOSTILE_ARGUMENTS]);
    const lines = await copy("curl");
    expect(lines).not.toContain("s3cr3t");
    for (const shell of SHELLS) {
      expect(JSON.parse(await run(shell, lines)), shell).toMatchObject({ result: { content: [{ text: "kept" }] } });
      expect(server.asked.splice(0), shell).toEqual([HOSTILE_ARGUMENTS]);
      expect(server.lastHeaders()["x-team"], shell).toBe(TEAM);
    }
    expect(JSON.parse(await run("sh", await copy("curl", "initialize")))).toHaveProperty("result.serverInfo");
    expect(await run("sh", await copy("curl", "notifications/initialized"))).toBe("");
    expect(await copy("typescript")).toContain(`connect({ url: "${server.sseUrl}", transport: "sse" }`);
  });

  it.skipIf(!hasCurl || !peersInstalled)("works for server-everything, whose transport was found out", async () => {
    const peer = await startPeer(EVERYTHING, ["sse"]);
    onTestFinished(() => peer.stop());
    const { copy } = await copiedCall(peer.url, { name: "echo", arguments: { message: "it's here" } });
    for (const shell of SHELLS) {
      const { result } = JSON.parse(await run(shell, await copy("curl")));
      expect(result.content[0].text, shell).toContain("it's here");
    }
  });

  it.skipIf(!hasCurl)("is not written like this for Streamable HTTP of the same server", async () => {
    const headers = { Authorization: AUTHORIZATION };
    const { copy } = await copiedCall(server.url, { name: "echo", arguments: {} }, { headers });
    expect(await copy("curl")).not.toContain("STREAM");
  });

  const request = (url: string): CopiedRequest => ({
    message: { jsonrpc: "2.0", id: 7, method: "ping" },
    target: { kind: "url", shown: url, url },
    revision: "2024-11-05",
    transport: "sse",
    headers: { authorization: AUTHORIZATION },
  });

  it.skipIf(!hasCurl)("says what came in place of a stream, and ends", async () => {
    const lines = copyAsCurl(request(server.sseUrl)) ?? "";
    await expect(runLines("sh", lines, { AUTHORIZATION: "Bearer wrong", NO_PROXY: "*" })).rejects.toThrow(
      /ended with 1: .*not authenticated/,
    );
  });

  it.skipIf(!hasCurl).each([
    ["/posts?x=1", "/posts?x=1"],
    ["posts", "/deep/posts"],
    ["?x=1", "/deep/stream?x=1"],
    ["http://127.0.0.1:9/$(touch pwned)", "/deep/http://127.0.0.1:9/$(touch%20pwned)"],
    ["//127.0.0.1:9/x", "//127.0.0.1:9/x"],
    ["/{a,b}[1-3]'\"", "/{a,b}[1-3]'\""],
  ])("posts to no other origin than that of the stream: %s", async (endpoint, posted) => {
    const paths: string[] = [];
    const hostile = createServer((incoming, response) => {
      if (incoming.method === "GET") {
        const endpointEvent = `event: endpoint\r\ndata: ${endpoint.replace(" ", "%20")}\r\n\r\n`;
        return void response.writeHead(200, { "content-type": "text/event-stream" }).write(endpointEvent);
      }
      paths.push(incoming.url ?? "");
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => hostile.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      hostile.closeAllConnections();
      hostile.close();
    });
    // It listens on a port, so the address is no path.
    const url = `http://127.0.0.1:${(hostile.address() as AddressInfo).port}/deep/stream`;
    await expect(run("sh", copyAsCurl(request(url)) ?? "")).rejects.toThrow(/ended with 22: .*404/);
    expect(paths).toEqual([posted]);
  });

  it("has variables for every secret", () => {
    const url = "https://me:pass@a.example/sse?token=t0k";
    const lines = copyAsCurl(request(url)) ?? "";
    expect(lines).toContain('"https://$URL_CREDENTIALS@a.example/sse?token=$TOKEN"');
    expect(lines).toContain('ENDPOINT="https://$URL_CREDENTIALS@a.example"$FOUND');
    expect(lines.match(/-H "authorization: \$AUTHORIZATION"/g)).toHaveLength(2);
    expect(lines).not.toMatch(/me:pass|t0k|s3cr3t/);
  });
});
