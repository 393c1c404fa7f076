import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runParley } from "../kit/run-parley.js";
import { examine, statuses } from "./examine.js";

/** A server by hand that prints a banner and then works. */
const BANNER = `
console.log("Welcome to my server v1");
process.stdin.on("data", (data) => {
  for (const line of String(data).split("\\n").filter(Boolean)) {
    const { id, method } = JSON.parse(line);
    const result = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "banner", version: "1" } };
    const answer = method === "initialize" ? { result } : { error: { code: -32601, message: "unknown" } };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  }
});`;

describe("parley doctor of a program", () => {
  let folder: string;
  const script = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return ["--", process.execPath, path];
  };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "parley-doctor-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("names a program that does not exist, and where it was looked for", async () => {
    const seen = await examine(["--", "no-such-program"], { env: { PATH: "/usr/bin:/bin" } });
    expect(seen.code).toBe(3);
    expect(seen.broken).toMatchObject({
      step: "command",
      code: "missing_binary",
      cause: 'the program "no-such-program" was not found in the 2 folders of PATH',
      fix: "Install it, write its full path, or add its folder to PATH.",
    });
    expect(statuses(seen)).toMatchObject({ folder: "ok", command: "failed", start: "skipped", schemas: "skipped" });
  });

  it("sees that a program and its arguments were written as one word", async () => {
    const { broken } = await examine(["--", "node server.js"]);
    expect(broken).toMatchObject({ code: "missing_binary", fix: expect.stringContaining("as separate words") });
  });

  it("names a folder that does not exist", async () => {
    const { broken, code } = await examine(["--cwd", join(folder, "none"), "--", process.execPath]);
    expect(broken).toMatchObject({ step: "folder", code: "bad_cwd", cause: expect.stringContaining("none") });
    expect(code).toBe(3);
  });

  it("names a file that cannot be run", async () => {
    const path = join(folder, "text.txt");
    writeFileSync(path, "no program", { mode: 0o600 });
    const { broken, code } = await examine(["--", path]);
    expect(broken).toMatchObject({ step: "start", code: "not_executable", fix: expect.stringContaining("chmod +x") });
    expect(code).toBe(3);
  });

  it("names the variable that a server misses", async () => {
    const target = script(
      "env.cjs",
      `if (!process.env.SHOP_TOKEN) { console.error("Error: SHOP_TOKEN is required"); process.exit(1); }`,
    );
    const seen = await examine(target);
    expect(seen.code).toBe(3);
    expect(seen.broken).toMatchObject({
      step: "start",
      code: "missing_env",
      cause: expect.stringMatching(
        /exited with code 1 because an environment variable is missing: Error: SHOP_TOKEN is required$/,
      ),
      fix: "Pass it: --env SHOP_TOKEN=…, or in `env` of the configuration.",
      stderr: ["Error: SHOP_TOKEN is required"],
    });
    const withIt = await examine(["--env", "SHOP_TOKEN=x", ...target]);
    expect(withIt.broken?.code).toBe("exited");
  });

  it("names a syntax error with the line that has it", async () => {
    const seen = await examine(script("syntax.cjs", "const a = 1;\nconst = 2;\n"));
    expect(seen.code).toBe(3);
    expect(seen.broken).toMatchObject({
      step: "start",
      code: "syntax_error",
      cause: expect.stringContaining("its code has a syntax error: SyntaxError: Unexpected token '='"),
      fix: expect.stringContaining("Correct the line that stderr shows"),
    });
    expect(seen.broken?.stderr?.join("\n")).toContain("const = 2");
  });

  it("names a package that is not installed", async () => {
    const { broken } = await examine(script("module.cjs", `require("no-such-package-here");`));
    expect(broken).toMatchObject({
      code: "missing_module",
      cause: expect.stringContaining("Cannot find module 'no-such-package-here'"),
      fix: "Check the path of the script, and install the server's dependencies.",
    });
  });

  it("finds a banner on stdout before a server that answers, and examines the rest", async () => {
    const seen = await examine(script("banner.cjs", BANNER));
    expect(seen).toMatchObject({ code: 5, ok: false, warnings: [], server: { name: "banner" } });
    expect(seen.broken).toMatchObject({ step: "stdout", code: "stdout_noise" });
    expect(statuses(seen)).toMatchObject({ stdout: "failed", handshake: "ok", era: "ok" });
    const [finding] = seen.steps.find(({ step }) => step === "stdout")?.findings ?? [];
    expect(finding?.cause).toContain("Welcome to my server v1");
    expect(finding?.fix).toContain("Let the server log to stderr");
  });

  it("finds text on stdout that comes with the lists", async () => {
    const chatty = BANNER.replace('console.log("Welcome to my server v1");', "")
      .replace("capabilities: {}", "capabilities: { tools: {} }")
      .replace(
        "const answer =",
        `const lists = method === "tools/list";
    if (lists) console.log("listing tools");
    const answer = lists ? { result: { tools: [] } } :`,
      );
    const seen = await examine(script("chatty.cjs", chatty));
    expect(seen).toMatchObject({ code: 5, ok: false, broken: { step: "stdout", code: "stdout_noise" } });
    expect(seen.broken?.cause).toContain("listing tools");
    expect(seen.steps.map(({ step, status }) => `${step} ${status}`)).toEqual(
      expect.arrayContaining(["stdout ok", "tools ok", "stdout failed"]),
    );
  });

  it("names text on stdout where messages should be", async () => {
    const target = script("noise.cjs", `console.log("Listening on port 3000"); setInterval(() => {}, 1000);`);
    const seen = await examine(["--timeout", "5s", ...target]);
    expect(seen.code).toBe(3);
    expect(seen.broken).toMatchObject({
      step: "stdout",
      code: "stdout_noise",
      cause: expect.stringContaining('prints text on stdout, which is reserved for messages: "Listening on port 3000"'),
      fix: "Start the server in its stdio mode, and let it log to stderr.",
    });
  });

  it("says with which code a program exits at once", async () => {
    const { broken, code } = await examine(script("exit.cjs", "process.exit(7);"));
    expect(code).toBe(3);
    expect(broken).toMatchObject({
      step: "start",
      code: "exited",
      cause: expect.stringMatching(/exited with code 7 before it answered, without output on stderr$/),
      fix: expect.stringContaining("Run the same command in a terminal"),
    });
  });

  it("says that a program runs and answers nothing, within its time", async () => {
    const target = script("hang.cjs", `console.error("starting"); setInterval(() => {}, 1000);`);
    const seen = await examine(["--timeout", "5s", ...target]);
    expect(seen.code).toBe(3);
    expect(seen.broken).toMatchObject({
      step: "handshake",
      code: "no_answer",
      cause: expect.stringContaining("runs, but does not answer"),
      fix: expect.stringContaining("Check that it is an MCP server in its stdio mode"),
      stderr: ["starting"],
    });
    expect(statuses(seen)).toMatchObject({ start: "ok", stdout: "ok" });
  });

  it("shows people the steps, the broken one, its cause, its fix and the end of stderr", async () => {
    const target = script("shown.cjs", `console.error("DATABASE_URL must be set"); process.exit(1);`);
    const { code, stdout } = await runParley(["doctor", ...target]);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^ {2}ok {7}command {4}\S+node$/m);
    expect(stdout).toMatch(/^ {2}failed {3}start {6}missing env/m);
    expect(stdout).toMatch(/^ {2}skipped {2}tools {6}not reached$/m);
    expect(stdout).toContain("\nfailed at start (missing_env)\ncause: ");
    expect(stdout).toContain("\nfix:   Pass it: --env DATABASE_URL=…");
    expect(stdout).toContain("\nstderr:\n       DATABASE_URL must be set\n");
  });
});
