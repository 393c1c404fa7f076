import { spawnSync } from "node:child_process";
import { connect } from "@parley/mcp";
import { REVISIONS } from "@parley/mcp/protocol";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startPeer } from "../../../mcp/test/interop/peer-process.js";
import { peersInstalled } from "../../../mcp/test/mounts/peer-packages.js";
import type { CopiedRequest } from "../../src/copy/copied-request.js";
import { copyAsCurl } from "../../src/copy/copy-as-curl.js";
import { copiedFrom, HOSTILE_ARGUMENTS } from "./copied-calls.js";
import { AUTHORIZATION, type EchoServer, startEchoServer } from "./echo-server.js";
import { runLines, SHELLS } from "./run-lines.js";

const hasCurl = spawnSync("curl", ["--version"]).status === 0;
if (!hasCurl) console.info("copies for curl: curl is not installed, so none was run");
if (!peersInstalled)
  console.info("the peers are not installed (npm run peers); no copy was run against server-everything");

const run = (shell: string, lines: string) => runLines(shell, lines, { AUTHORIZATION, NO_PROXY: "*" });

describe("a request that is copied for curl", () => {
  let server: EchoServer;
  beforeAll(async () => {
    server = await startEchoServer();
  });
  afterAll(() => server.close());

  for (const revision of REVISIONS) {
    it.skipIf(!hasCurl)(`calls the same tool with the same arguments in ${revision}, in every shell`, async () => {
      const request = await copiedFrom(server, revision, (client) => client.callTool("echo", HOSTILE_ARGUMENTS));
      const original = server.asked.splice(0);
      expect(original).toEqual([HOSTILE_ARGUMENTS]);
      const lines = copyAsCurl(request) ?? "";
      expect(lines).not.toContain("s3cr3t");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
      expect(lines).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]/);
      expect(lines.match(/^(?:SESSION=\$\()?curl /gm)).toHaveLength(revision === "2026-07-28" ? 1 : 3);
      for (const shell of SHELLS) {
        expect(await run(shell, lines), shell).toContain('"kept"');
        expect(server.asked.splice(0), shell).toEqual(original);
        expect(server.lastHeaders()["x-team"], shell).toBe('it\'s "us" $HOME');
      }
    });
  }

  it.skipIf(!hasCurl)("is sent without knowing the headers, too", async () => {
    for (const revision of ["2025-06-18", "2026-07-28"] as const) {
      const known = await copiedFrom(server, revision, (client) => client.callTool('it\'s $(one) "tool"'));
      const { headers: _, ...request } = known;
      server.asked.length = 0;
      const lines = (copyAsCurl(request) ?? "").replaceAll(
        " \\\n  --data",
        ' \\\n  -H "authorization: $AUTHORIZATION" \\\n  --data',
      );
      expect(await run("sh", lines)).toContain("kept");
      expect(server.asked).toEqual(["hostile name"]);
    }
  });

  it.skipIf(!hasCurl || !peersInstalled)("opens a session of server-everything, which keeps one", async () => {
    const peer = await startPeer("node_modules/@modelcontextprotocol/server-everything/dist/index.js", [
      "streamableHttp",
    ]);
    onTestFinished(() => peer.stop());
    let message: CopiedRequest["message"] = {};
    const revision = "2025-11-25";
    const client = await connect(peer.url, {
      revisions: [revision],
      onMessage: (wire) => {
        if (wire.message["method"] === "tools/call") message = wire.message;
      },
    });
    onTestFinished(() => client.close());
    await client.callTool("echo", { message: "it's here" });
    const target = { kind: "url", shown: peer.url, url: peer.url } as const;
    for (const shell of SHELLS) {
      expect(await run(shell, copyAsCurl({ message, target, revision }) ?? ""), shell).toContain("it's here");
    }
  });

  it.skipIf(!hasCurl)("may be longer than a word of a command line", async () => {
    const args = { text: "it's ".repeat(100_000) };
    for (const revision of ["2025-11-25", "2026-07-28"] as const) {
      const request = await copiedFrom(server, revision, (client) => client.callTool("echo", args));
      server.asked.length = 0;
      expect(await run("sh", copyAsCurl(request) ?? "")).toContain("kept");
      expect(server.asked).toEqual([args]);
    }
  });

  it.skipIf(!hasCurl)("may be the handshake itself", async () => {
    const request = await copiedFrom(server, "2025-11-25", (client) => client.ping());
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } };
    const initialize = { ...request, message: { jsonrpc: "2.0", id: 1, method: "initialize", params } };
    expect(await run("sh", copyAsCurl(initialize) ?? "")).toContain('"serverInfo"');
    const initialized = { ...request, message: { jsonrpc: "2.0", method: "notifications/initialized" } };
    expect(copyAsCurl(initialized)?.match(/curl -sS/g)).toHaveLength(2);
    expect(await run("sh", copyAsCurl(initialized) ?? "")).toBe("");
  });

  it("does not exist for what is not at an address, or cannot be pasted", () => {
    const request: CopiedRequest = {
      message: { jsonrpc: "2.0", id: 1, method: "ping" },
      target: { kind: "url", shown: "http://a/mcp", url: "http://a/mcp" },
      revision: "2025-11-25",
    };
    const at = (target: CopiedRequest["target"]) => copyAsCurl({ ...request, target });
    expect(copyAsCurl(request)).toContain("curl");
    expect(at({ kind: "command", shown: "-- node a.js", command: ["node", "a.js"] })).toBeUndefined();
    expect(at({ kind: "server", shown: "server" })).toBeUndefined();
    expect(at({ kind: "url", shown: "http://a", url: "http://a\u001b[201~" })).toBeUndefined();
    let deep: object = {};
    for (let level = 0; level < 100_000; level++) deep = { deep };
    expect(copyAsCurl({ ...request, message: { ...request.message, params: deep } })).toBeUndefined();
  });

  it("has variables for every secret, and leaves out what belongs to one connection", () => {
    const lines = copyAsCurl({
      message: { jsonrpc: "2.0", id: 1, method: "tools/list" },
      target: { kind: "url", shown: "https://a/mcp", url: "https://me:pass@a/mcp?token=t0k&x=1&api_key=k" },
      revision: "2026-07-28",
      headers: {
        Cookie: "id=1",
        "X-Api-Key": "key",
        "X-Path": "sk-0123456789abcdef0123",
        "X-Note": "a [redacted] text",
        "X-Empty": "",
        Host: "a",
        "Content-Length": "5",
        "Mcp-Session-Id": "session",
        "bad\nname": "x",
        "x-bad": "a\nb",
      },
    });
    expect(lines?.split(" \\\n  ")).toEqual([
      'curl -sS -N -g "https://$URL_CREDENTIALS@a/mcp?token=$TOKEN&x=1&api_key=$API_KEY"',
      "-H 'accept: application/json, text/event-stream'",
      "-H 'content-type: application/json'",
      "-H 'mcp-protocol-version: 2026-07-28'",
      "-H 'mcp-method: tools/list'",
      '-H "cookie: $COOKIE"',
      '-H "x-api-key: $X_API_KEY"',
      '-H "x-path: $X_PATH_SECRET"',
      '-H "x-note: $X_NOTE_SECRET"',
      "-H 'x-empty;'",
      `--data-raw '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`,
    ]);
  });
});
