import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveHttp } from "@parley/mcp/node";
import { parseRecording } from "@parley/mcp/recording";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { server } from "../fixtures/fixture-server.js";
import { runParley } from "../kit/run-parley.js";

describe("--record", () => {
  let handle: Awaited<ReturnType<typeof serveHttp>>;
  let cwd: string;
  beforeAll(async () => {
    handle = await serveHttp(server, { port: 0 });
  });
  afterAll(() => handle.close());
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), "parley-record-"));
  });
  afterEach(() => rmSync(cwd, { recursive: true, force: true }));

  it("writes a header and every message of both directions to a file of its owner alone", async () => {
    const { code, stderr } = await runParley(["ping", handle.url, "-n", "1", "--record", "a.jsonl"], { cwd });
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const path = join(cwd, "a.jsonl");
    const { header, messages } = parseRecording(readFileSync(path, "utf8"), path);
    expect(header).toMatchObject({
      format: "parley-recording",
      version: 1,
      target: { kind: "url", name: handle.url },
      revision: "2026-07-28",
      server: { name: "fixture", version: "1.2.3" },
      redacted: true,
    });
    expect(messages.map(({ direction }) => direction)).toEqual(["sent", "received", "sent", "received"]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("records what was said before a connection failed", async () => {
    const { code } = await runParley(["ping", "--record", "a.jsonl", "--", process.execPath, "-e", "0"], { cwd });
    expect(code).toBe(3);
    const { header, messages } = parseRecording(readFileSync(join(cwd, "a.jsonl"), "utf8"), "a.jsonl");
    expect(header.server).toBeUndefined();
    expect(messages.length).toBeGreaterThan(0);
  });

  it("never replaces a file", async () => {
    writeFileSync(join(cwd, "a.jsonl"), "precious");
    const { code, stderr } = await runParley(["ping", handle.url, "--record", "a.jsonl"], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain("already exists");
    expect(readFileSync(join(cwd, "a.jsonl"), "utf8")).toBe("precious");
  });

  it("keeps headers and the secrets of an address out of the file", async () => {
    const url = handle.url.replace("/mcp", "/mcp?api_key=abcdefgh12345678");
    const header = "Authorization: Bearer abcdefgh12345678";
    const { code } = await runParley(["ping", url, "-n", "1", "-H", header, "--record", "a.jsonl"], { cwd });
    expect(code).toBe(0);
    expect(readFileSync(join(cwd, "a.jsonl"), "utf8")).not.toContain("abcdefgh");
  });

  it("keeps paths and settings, and leaves secrets of the shell out, whatever their variables are called", async () => {
    const credentials = join(cwd, "credentials.json");
    writeFileSync(credentials, "{}");
    const env = {
      PATH: process.env["PATH"],
      PWD: cwd,
      OLDPWD: tmpdir(),
      GOOGLE_APPLICATION_CREDENTIALS: credentials,
      USE_TOKEN: "required",
      DEPLOY_TOKEN: "/not-a-path-12345",
      DB_PWD: "open-sesame-1",
    };
    const said = `read ${credentials} below ${cwd}, a token is required; /not-a-path-12345 open-sesame-1`;
    const { code } = await runParley(["call", handle.url, "echo", `text=${said}`, "--record", "a.jsonl"], { cwd, env });
    expect(code).toBe(0);
    const text = readFileSync(join(cwd, "a.jsonl"), "utf8");
    expect(text).toContain(`read ${credentials} below ${cwd}, a token is required; [redacted] [redacted]`);
    expect(text).not.toMatch(/not-a-path|sesame/);
  });
});
