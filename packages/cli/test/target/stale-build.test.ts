import { utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { examine, statuses } from "../doctor/examine.js";
import { runParley } from "../kit/run-parley.js";
import { ModuleFolder } from "../run/module-folder.js";

const MODULE = `
import { Server } from "@parley/mcp";
export const server = new Server({ name: "notes", version: "1.0.0" }).tool("add", () => "added");`;
const PROGRAM = `
import { serveStdio } from "@parley/mcp/node";
import { server } from "./server.js";
serveStdio(server);`;

/** A project whose sources were changed so many seconds after its output. */
function project(seconds = 60): ModuleFolder {
  const folder = new ModuleFolder({
    "package.json": JSON.stringify({ type: "module", scripts: { build: "tsc" } }),
    "tsconfig.json": "{}",
    "src/server.ts": "",
    "dist/server.js": MODULE,
    "dist/stdio.js": PROGRAM,
  }).link();
  for (const name of ["server.js", "stdio.js"]) utimesSync(join(folder.path, "dist", name), 1000, 1000);
  utimesSync(join(folder.path, "src/server.ts"), 1000 + seconds, 1000 + seconds);
  return folder;
}

const ADVICE = "dist is older than src/server.ts. Run `npm run build`.\n";
const PROGRAM_WORDS = ["--", process.execPath, "dist/stdio.js"];

describe("a build that is older than its sources", () => {
  it.each([
    [["call", "write_note"], 'the server has no tool "write_note"\nfix:   Use one of: add. '],
    [["prompt", "review"], "fix:   `parley info` shows what the server offers. "],
    [["read", "note://1"], "fix:   `parley info` shows what the server offers. "],
  ])("is named where the server lacks what is asked for: %j", async (words, text) => {
    using folder = project();
    const { code, stderr } = await runParley([...words, ...PROGRAM_WORDS], { cwd: folder.path });
    expect(stderr).toContain(text + ADVICE);
    expect(code).toBe(1);
  });

  it("is not named if the output is newer, nor for other failures", async () => {
    using fresh = project(-60);
    const unknown = await runParley(["call", "write_note", ...PROGRAM_WORDS], { cwd: fresh.path });
    expect(unknown.stderr).toMatch(/fix: {3}Use one of: add\.\n$/);
    using stale = project();
    const called = await runParley(["call", "add", ...PROGRAM_WORDS], { cwd: stale.path });
    expect(called).toEqual({ code: 0, stdout: "added\n", stderr: "" });
  });

  it("is a warning of doctor", async () => {
    using folder = project();
    const seen = await examine(PROGRAM_WORDS, { cwd: folder.path });
    expect(seen).toMatchObject({ code: 0, ok: true, warnings: expect.arrayContaining(["stale_build"]) });
    expect(seen.steps.find(({ step }) => step === "build")).toMatchObject({
      status: "warning",
      findings: [{ code: "stale_build", cause: "dist is older than src/server.ts", fix: "Run `npm run build`." }],
    });
    const module = await examine(["./dist/server.js"], { cwd: folder.path });
    expect(module.warnings).toContain("stale_build");
    using fresh = project(-60);
    expect(statuses(await examine(PROGRAM_WORDS, { cwd: fresh.path }))).toMatchObject({ build: "ok" });
  });
});

describe("a build that does not exist", () => {
  const FIX = "Build the project first: `npm run build`. If it is built, check the path.";

  it("is named by commands that start the program or load the module", async () => {
    using folder = project();
    const started = await runParley(["call", "add", "--", process.execPath, "dist/other.js"], { cwd: folder.path });
    expect(started.stderr).toContain(`fix:   ${FIX}\n`);
    expect(started.code).toBe(3);
    const loaded = await runParley(["call", "dist/other.js", "add"], { cwd: folder.path });
    expect(loaded).toMatchObject({ code: 2, stderr: `error: the file dist/other.js does not exist\nfix:   ${FIX}\n` });
  });

  it("is named by doctor", async () => {
    using folder = project();
    const { broken, code } = await examine(["--", process.execPath, "dist/other.js"], { cwd: folder.path });
    expect(broken).toMatchObject({ step: "start", code: "missing_module", fix: FIX });
    expect(code).toBe(3);
  });

  it("is not blamed for a package that is missing", async () => {
    using folder = project(-60);
    folder.write("dist/stdio.js", 'import "no-such-package-here";');
    const { stderr } = await runParley(["call", "add", ...PROGRAM_WORDS], { cwd: folder.path });
    expect(stderr).toContain("fix:   Install the server's dependencies, and check the path.\n");
  });
});
