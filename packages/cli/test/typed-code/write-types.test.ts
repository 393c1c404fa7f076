import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { server as fixture } from "../fixtures/fixture-server.js";
import { runParley } from "../kit/run-parley.js";

describe("parley types", () => {
  let folder: string;
  let server: Server;
  let handle: Awaited<ReturnType<typeof serveHttp>>;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-types-"));
    server = new Server({ name: "weather", version: "1.0.0" });
    server.tool("forecast", { description: "The weather.", input: z.object({ city: z.string() }) }, ({ city }) => city);
    handle = await serveHttp(server, { port: 0 });
  });
  afterEach(async () => {
    await handle.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const types = (...args: string[]) => runParley(["types", handle.url, ...args], { cwd: folder });
  const written = (name: string) => readFileSync(join(folder, name), "utf8");

  it("prints TypeScript without -o, and with --json beside the counts", async () => {
    const plain = await types();
    expect(plain).toMatchObject({ code: 0, stderr: "" });
    expect(plain.stdout).toContain(
      "export function forecast(client: AnyClient, args: ForecastArguments, options?: CallOptions)",
    );
    const { stdout } = await types("--json");
    expect(JSON.parse(stdout)).toEqual({ tools: 1, prompts: 0, templates: 0, code: plain.stdout });
  });

  it("writes one .ts file, and leaves it alone when nothing has changed", async () => {
    const first = await types("-o", "src/weather.ts");
    expect(first.stdout).toBe("wrote src/weather.ts (1 tool)\n");
    const before = statSync(join(folder, "src/weather.ts"), { bigint: true }).mtimeNs;
    expect((await types("-o", "src/weather.ts")).stdout).toBe("unchanged: src/weather.ts (1 tool)\n");
    expect(statSync(join(folder, "src/weather.ts"), { bigint: true }).mtimeNs).toBe(before);
  });

  it.each(["weather.js", "weather.d.ts"])("writes a module and its declarations for -o %s", async (output) => {
    const { stdout } = await types("-o", output);
    expect(stdout.match(/^wrote /gm)).toHaveLength(2);
    expect(written("weather.js")).toContain('return client.call("forecast", args, options);');
    expect(written("weather.d.ts")).toContain(
      "export declare function forecast(client: AnyClient, args: ForecastArguments",
    );
  });

  it.each([
    ["weather.mjs", "weather.d.mts"],
    ["weather.d.mts", "weather.mjs"],
  ])("knows the ending of %s", async (a, b) => {
    await types("-o", a);
    expect([existsSync(join(folder, a)), existsSync(join(folder, b))]).toEqual([true, true]);
  });

  it("finds nothing to say about a file that is up to date", async () => {
    await types("-o", "weather.ts");
    expect(await types("-o", "weather.ts", "--check")).toMatchObject({ code: 0, stdout: "weather.ts is up to date\n" });
  });

  it("shows what has changed with --check, writes nothing, and exits with 5", async () => {
    await types("-o", "weather.js");
    const before = written("weather.js");
    server.tool("alerts", { description: "\u001b[31mWarnings", input: z.object({ region: z.string() }) }, () => "none");
    const { code, stdout, stderr } = await types("-o", "weather.js", "--check");
    expect(code).toBe(5);
    expect(stdout).toContain("weather.js is out of date:");
    expect(stdout).toContain("  + export declare function alerts(");
    expect(stdout).not.toContain("\u001b");
    expect(stderr).toContain("fix:   Run the same command without --check.");
    expect(written("weather.js")).toBe(before);
    const { stdout: json, code: again } = await types("-o", "weather.js", "--check", "--json");
    expect(again).toBe(5);
    expect(JSON.parse(json)).toMatchObject({
      tools: 2,
      files: [{ file: "weather.js", state: "stale" }, { state: "stale" }],
    });
  });

  it("does not mind other ends of lines", async () => {
    await types("-o", "weather.ts");
    writeFileSync(join(folder, "weather.ts"), written("weather.ts").replaceAll("\n", "\r\n"));
    expect((await types("-o", "weather.ts", "--check")).code).toBe(0);
    expect((await types("-o", "weather.ts")).stdout).toContain("unchanged");
  });

  it("says with --check that a file is missing", async () => {
    const { code, stdout } = await types("-o", "none.ts", "--check");
    expect([code, stdout]).toEqual([5, "none.ts does not exist\n"]);
  });

  it("bounds the difference that it shows", async () => {
    writeFileSync(join(folder, "weather.ts"), "x\n".repeat(5_000));
    const { stdout } = await types("-o", "weather.ts", "--check");
    expect(stdout.split("\n").length).toBeLessThan(70);
    expect(stdout).toMatch(/… and \d+ more lines/);
  });

  it("writes again with --watch when the tools change, until it is interrupted", async () => {
    const interrupt = new AbortController();
    const watching = runParley(["types", handle.url, "-o", "weather.ts", "--watch"], {
      cwd: folder,
      signal: interrupt.signal,
    });
    await vi.waitFor(() => expect(written("weather.ts")).toContain("function forecast("), { timeout: 20_000 });
    server.tool("alerts", { description: "Warnings." }, () => "none");
    await vi.waitFor(() => expect(written("weather.ts")).toContain("function alerts("), { timeout: 20_000 });
    interrupt.abort();
    expect((await watching).code).toBe(130);
  });

  it.each([
    [["-o", "weather.py"], '"weather.py" does not name a .ts or .js file'],
    [["-o", "weather.cjs"], '"weather.cjs" does not name a .ts or .js file'],
    [["-o", ".ts"], '".ts" does not name a .ts or .js file'],
    [["--check"], "--check needs a file"],
    [["--watch"], "--watch needs a file"],
    [["--check", "--watch", "-o", "x.ts"], "--check and --watch cannot be combined"],
    [["x.ts"], 'unexpected argument "x.ts"'],
    [["-o", "package.json/x.ts"], "package.json/x.ts cannot be written"],
  ])("%j is a wrong command line", async (args, cause) => {
    writeFileSync(join(folder, "package.json"), "{}");
    const { code, stderr } = await types(...args);
    expect(stderr).toContain(cause);
    expect(stderr).toMatch(/^fix: /m);
    expect(code).toBe(2);
  });

  it("has functions for prompts and resource templates", async () => {
    const other = await serveHttp(fixture, { port: 0 });
    const { stdout } = await runParley(["types", other.url]);
    await other.close();
    expect(stdout).toContain("export function reviewPrompt(client: AnyClient, args: ReviewPromptArguments");
    expect(stdout).toContain("export function noteResource(client: AnyClient, variables: { day: string }");
  });
});
