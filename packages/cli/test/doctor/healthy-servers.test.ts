import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { server as fixture } from "../fixtures/fixture-server.js";
import { runParley } from "../kit/run-parley.js";
import { examine, statuses } from "./examine.js";

const program = fileURLToPath(new URL("era-server.mjs", import.meta.url));
const module = fileURLToPath(new URL("../fixtures/fixture-server.ts", import.meta.url));
const ERAS = ["2025-11-25", "2026-07-28"] as const;

/** Starts the server named by its arguments once both requests have arrived, and passes them on. */
const SLOW_START = `
const { spawn } = require("node:child_process");
let text = "";
process.stdin.on("data", function wait(chunk) {
  text += chunk;
  if (!text.includes("server/discover") || !text.includes('"initialize"')) return;
  process.stdin.off("data", wait);
  const child = spawn(process.execPath, process.argv.slice(1), { stdio: ["pipe", "inherit", "inherit"] });
  child.stdin.write(text);
  process.stdin.pipe(child.stdin);
  child.on("exit", (code) => process.exit(code));
});`;

describe("parley doctor of a healthy server", () => {
  it.each(ERAS)("has nothing to say about a program of %s", async (revision) => {
    const seen = await examine(["--", process.execPath, program, revision]);
    expect(seen).toMatchObject({ code: 0, ok: true, server: { name: "era", revision }, warnings: [] });
    expect(Object.values(statuses(seen))).not.toContain("failed");
    expect(statuses(seen)).toMatchObject({ command: "ok", start: "ok", stdout: "ok", tools: "ok", schemas: "ok" });
  });

  it("names the way that was agreed on with a program that starts only when it was asked in both ways", async () => {
    const text = await runParley(["doctor", "--", process.execPath, "-e", SLOW_START, program]);
    expect(text.stdout).toMatch(/^ {2}ok {7}era {8}2026-07-28, without sessions; era 1$/m);
    expect(text.code).toBe(0);
  });

  it.each(ERAS)("has nothing to say about a server of %s at a URL that pages may use", async (revision) => {
    const server = new Server({ name: "era", version: "1" }, { revisions: [revision] }).tool(
      "hello",
      { description: "Says hello" },
      () => "hello",
    );
    const handle = await serveHttp(server, { port: 0, cors: { origins: ["https://pages.example"] } });
    onTestFinished(() => handle.close());
    const seen = await examine([handle.url, "--origin", "https://pages.example"]);
    expect(seen).toMatchObject({ code: 0, ok: true, server: { name: "era", revision }, warnings: [] });
    expect(statuses(seen)).toEqual({
      dns: "ok",
      tcp: "ok",
      tls: "skipped",
      http: "ok",
      host: "ok",
      cors: "ok",
      auth: "ok",
      handshake: "ok",
      era: "ok",
      tools: "ok",
      resources: "skipped",
      prompts: "skipped",
      schemas: "ok",
    });
  });

  it.each(ERAS)("has nothing to say about a module in %s", async (revision) => {
    const seen = await examine([module, "--revision", revision]);
    expect(seen).toMatchObject({ code: 0, ok: true, server: { name: "fixture", revision }, warnings: [] });
    expect(statuses(seen)).toMatchObject({ module: "ok", tools: "ok", resources: "ok", prompts: "ok" });
  });

  it("warns that pages may not call, and still exits with zero", async () => {
    const handle = await serveHttp(fixture, { port: 0 });
    onTestFinished(() => handle.close());
    const { code, stdout } = await runParley(["doctor", handle.url]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}warning {2}cors {7}web pages from https:\/\/app\.example may not call the server$/m);
    expect(stdout).toMatch(/^ {2}ok {7}era {8}2026-07-28, without sessions; fixture 1\.2\.3$/m);
    expect(stdout).toMatch(/^warning at cors \(cors_disabled\)\ncause: .*\nfix: {3}.*$/m);
    expect(stdout).toMatch(/The server works\.\n$/);
  });

  it("accepts credentials that the server accepts", async () => {
    const handle = await serveHttp(fixture, {
      port: 0,
      authenticate: (request) => (request.header("authorization") === "Bearer good" ? { key: "ada" } : { status: 401 }),
    });
    onTestFinished(() => handle.close());
    const seen = await examine([handle.url, "-H", "Authorization: Bearer good"]);
    expect(seen).toMatchObject({ code: 0, ok: true });
    expect(seen.steps.find(({ step }) => step === "auth")?.detail).toBe("the credentials are accepted");
    expect((await examine([handle.url])).code).toBe(4);
  });

  it.each([
    [["doctor"], "which server?"],
    [["doctor", module, "more"], 'unexpected argument "more"'],
    [["doctor", module, "--timeout", "soon"], '"soon" is not a duration for --timeout'],
  ])("%j is a wrong command line", async (args, cause) => {
    const { code, stderr } = await runParley(args);
    expect(stderr).toContain(cause);
    expect(code).toBe(2);
  });

  it.each([
    ["export const nothing = 1;\n", "no_server_exported", "exports no server", "Add `export const server"],
    ["export const = 1;\n", "module_failed", "", ""],
    ['throw new Error("no database");\n', "module_failed", "no database", ""],
  ])("says why the module %j has no server", async (text, expected, cause, fix) => {
    const folder = mkdtempSync(join(tmpdir(), "parley-doctor-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "server.mjs");
    writeFileSync(path, text);
    const { broken, code } = await examine([path]);
    expect(code).toBe(3);
    expect(broken).toMatchObject({ step: "module", code: expected });
    expect(broken?.cause).toContain(cause === "" ? "server.mjs" : cause);
    expect(broken?.fix).toContain(fix);
  });
});
