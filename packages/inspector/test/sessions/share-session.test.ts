import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redactor } from "@parley/mcp/recording";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import type { SharedSession } from "../../src/contract/inspector-state.js";
import type { HttpExchange } from "../../src/contract/timeline.js";
import type { SessionConnection } from "../../src/sessions/session-connection.js";
import { shareSession } from "../../src/sessions/share-session.js";
import { Timeline } from "../../src/timeline/timeline.js";

function pageFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-page-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ["inspector.js", "inspector.css"]) writeFileSync(join(folder, name), "");
  return folder;
}

function connectionOf(id: string, info: Partial<ConnectionInfo> = {}, secrets: string[] = []): SessionConnection {
  const target = { id: "target-1", kind: "url", shown: "http://127.0.0.1/mcp?key=canary" } as const;
  const shown: ConnectionInfo = {
    id,
    target,
    status: "ready",
    capabilities: {},
    opened: 1,
    roots: [],
    lists: {},
    ...info,
  };
  const redactor = new Redactor({ values: secrets });
  return { id, info: shown, target: { secrets }, redactor, openAnother: () => Promise.reject(new Error("not opened")) };
}

async function shared(timeline: Timeline, connections: SessionConnection[], maxBytes?: number): Promise<SharedSession> {
  const { parts } = await shareSession({ connections, timeline, pageFolder: pageFolder(), maxBytes });
  let text = "";
  for await (const part of parts) text += part;
  const json = /id="shared-session">(.*?)<\/script>/s.exec(text)?.[1] ?? "";
  return JSON.parse(json) as SharedSession;
}

describe("what is shared", () => {
  it("has the newest entries that there is room for, and says how many are left out", async () => {
    const timeline = new Timeline();
    for (let at = 0; at < 100; at++) timeline.addEvent({ connection: "c1", text: `<event> ${at}` });
    const { entries, leftOut } = await shared(timeline, [connectionOf("c1")], 5_000);
    expect(entries.at(-1)?.text).toBe("<event> 99");
    expect(entries.length + leftOut).toBe(100);
    expect(entries.length).toBeGreaterThan(5);
    expect(leftOut).toBeGreaterThan(50);
    expect(entries.map(({ summary }) => summary.seq)).toEqual(entries.map((_, at) => 101 - entries.length + at));
  });

  it("has no values of headers but harmless ones, no bodies of logins and no queries", async () => {
    const timeline = new Timeline();
    const exchange: HttpExchange = {
      method: "POST",
      url: "https://login.example.com/token?code=canary",
      requestHeaders: { "content-type": "text/plain", cookie: "canary", "x-anything": "canary" },
      requestBody: "code=canary&code_verifier=canary",
      status: 200,
      responseHeaders: { "set-cookie": "canary", date: "today", "mcp-session-id": "canary" },
      responseBody: '{"access_token":"canary","id":"canary"}',
    };
    timeline.addHttp({ connection: "c1", label: "POST https://a.example?code=canary", exchange, failed: false });
    const metadata = { issuer: "https://login.example.com", token: "canary" };
    const found: HttpExchange = { ...exchange, method: "GET", responseBody: JSON.stringify(metadata) };
    timeline.addHttp({ connection: "c1", label: "GET metadata", exchange: found, failed: false });
    const login = {
      steps: [{ step: "login", shown: "GET https://a.example?state=canary", outcome: "done", ok: true }],
      visit: "https://a.example/authorize?state=canary",
    } as const;
    const session = await shared(timeline, [connectionOf("c1", { login })]);
    expect(JSON.stringify(session)).not.toContain("canary");
    const [posted, got] = session.entries;
    expect(posted?.http).toMatchObject({
      url: "https://login.example.com/token?[redacted]",
      requestHeaders: { "content-type": "text/plain", cookie: "[redacted]", "x-anything": "[redacted]" },
      requestBody: "[redacted]",
      responseHeaders: { date: "today", "mcp-session-id": "[redacted]" },
      responseBody: "[redacted]",
    });
    expect(got?.http?.responseBody).toContain("https://login.example.com");
    expect(session.connections[0]?.login).toEqual({ steps: [expect.objectContaining({ step: "login" })] });
  });

  it("has no secret of one target in the messages of another", async () => {
    const timeline = new Timeline();
    const wire = {
      direction: "received",
      message: { jsonrpc: "2.0", method: "n", params: { text: "is canary" } },
    } as const;
    timeline.addMessage({ connection: "c2", wire: { ...wire, connection: {} } });
    timeline.addEvent({ connection: "c2", text: "stderr: canary" });
    const connections = [connectionOf("c1", {}, ["canary"]), connectionOf("c2", { instructions: "say canary" })];
    const session = await shared(timeline, connections);
    expect(session.entries).toHaveLength(2);
    expect(JSON.stringify(session)).not.toContain("canary");
  });

  it("needs the page", async () => {
    const sharing = shareSession({ connections: [], timeline: new Timeline(), pageFolder: join(tmpdir(), "nowhere") });
    await expect(sharing).rejects.toMatchObject({ kind: "invalid_definition", fix: expect.stringContaining("build") });
  });
});
