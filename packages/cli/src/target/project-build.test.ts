import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { projectBuild } from "./project-build.js";

const PACKAGE = JSON.stringify({ scripts: { build: "tsc" } });

describe("projectBuild", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "parley-build-"));
    return () => rmSync(folder, { recursive: true });
  });

  /** Writes files that were changed at the given second. */
  const write = (files: Readonly<Record<string, number>>) => {
    for (const [name, seconds] of Object.entries(files)) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, name.endsWith("package.json") ? PACKAGE : "");
      utimesSync(path, seconds, seconds);
    }
  };
  const project = (files: Readonly<Record<string, number>>) =>
    write({ "package.json": 1, "tsconfig.json": 1, ...files });
  const build = (...args: string[]) =>
    projectBuild({ kind: "command", entry: { command: "node", args, cwd: folder } }, "/nonexistent");

  it("names the newest source that is newer than the whole output", () => {
    project({ "src/a.ts": 20, "src/deep/b.tsx": 30, "src/c.ts": 5, "dist/a.js": 9, "dist/deep/b.js": 10 });
    expect(build("dist/a.js")).toEqual({
      state: "stale",
      cause: "dist is older than src/deep/b.tsx",
      fix: "Run `npm run build`.",
    });
  });

  it.each(["dist", "build", "out", "lib"])("knows the output folder %s, and files in folders of it", (output) => {
    project({ "src/a.ts": 20, [`${output}/bin/a.mjs`]: 10 });
    expect(build("--enable-source-maps", `${output}/bin/a.mjs`, "word")).toMatchObject({
      state: "stale",
      cause: `${output} is older than src/a.ts`,
    });
  });

  it("finds the output of the program by its whole path, with the folder of the command line, and of a module", () => {
    project({ "src/a.ts": 20, "dist/a.js": 10 });
    const path = join(folder, "dist/a.js");
    const entry = { command: process.execPath, args: [path] };
    expect(projectBuild({ kind: "command", entry }, "/")?.state).toBe("stale");
    const near = { command: "node", args: ["dist/a.js"] };
    expect(projectBuild({ kind: "command", entry: near }, folder)?.state).toBe("stale");
    expect(projectBuild({ kind: "module", path }, "/")?.state).toBe("stale");
  });

  it.each<[string, Record<string, number>]>([
    ["the output is newer", { "src/a.ts": 10, "dist/a.js": 20 }],
    ["both have one time", { "src/a.ts": 10, "dist/a.js": 10 }],
    [
      "one file of the output is newer, since compilers leave unchanged files",
      { "src/a.ts": 10, "dist/a.js": 5, "dist/b.js": 20 },
    ],
    [
      "only tests, declarations and other files are newer",
      { "src/a.ts": 1, "src/a.test.ts": 30, "src/b.spec.tsx": 30, "src/c.d.ts": 30, "src/d.md": 30, "dist/a.js": 20 },
    ],
    ["only files of packages are newer", { "src/a.ts": 1, "src/node_modules/p/index.ts": 30, "dist/a.js": 20 }],
    [
      "the compiler found nothing to write, and noted it",
      { "src/a.ts": 30, "dist/a.js": 20, "tsconfig.tsbuildinfo": 40 },
    ],
    ["there are no sources", { "dist/a.js": 20 }],
  ])("is fresh if %s", (_why, files) => {
    project(files);
    expect(build("dist/a.js")).toMatchObject({ state: "fresh" });
  });

  it("is missing if the script is, and says how to build it", () => {
    project({ "src/a.ts": 20 });
    expect(build("dist/a.js")).toEqual({
      state: "missing",
      cause: "dist/a.js does not exist",
      fix: "Build the project first: `npm run build`. If it is built, check the path.",
    });
  });

  it("names no script that package.json does not have", () => {
    project({ "src/a.ts": 20, "dist/a.js": 10 });
    for (const text of ["{}", '{ "scripts": [] }', "[]", "null", "{ broken"]) {
      writeFileSync(join(folder, "package.json"), text);
      expect(build("dist/a.js")?.fix).toBe("Build the project again.");
      expect(build("dist/b.js")?.fix).toBe("Build the project first. If it is built, check the path.");
    }
  });

  it("does not judge what it cannot read whole", () => {
    project({ "src/a.ts": 20 });
    write(Object.fromEntries(Array.from({ length: 2001 }, (_, at) => [`dist/${at}.js`, 10])));
    expect(build("dist/1.js")).toMatchObject({ state: "fresh" });
  });

  it.each<[string, Record<string, number>, string[]]>([
    ["a project without tsconfig.json", { "package.json": 1, "src/a.ts": 20, "dist/a.js": 10 }, ["dist/a.js"]],
    ["a folder without package.json", { "tsconfig.json": 1, "src/a.ts": 20, "dist/a.js": 10 }, ["dist/a.js"]],
    ["a script beside the sources", { "package.json": 1, "tsconfig.json": 1, "src/a.ts": 20, "a.js": 10 }, ["a.js"]],
    [
      "an installed package",
      {
        "node_modules/p/package.json": 1,
        "node_modules/p/tsconfig.json": 1,
        "node_modules/p/src/a.ts": 20,
        "node_modules/p/dist/a.js": 10,
      },
      ["node_modules/p/dist/a.js"],
    ],
    [
      "an argument of another script",
      { "package.json": 1, "tsconfig.json": 1, "src/a.ts": 20, "dist/a.js": 10, "a.js": 10 },
      ["a.js", "dist/a.js"],
    ],
    ["no script", { "package.json": 1, "tsconfig.json": 1, "src/a.ts": 20, "dist/a.js": 10 }, ["-e", "1"]],
  ])("is unknown for %s", (_what, files, args) => {
    write(files);
    expect(build(...args)).toBeUndefined();
  });

  it("is unknown for other programs and for URLs", () => {
    project({ "src/a.ts": 20, "dist/a.js": 10 });
    const entry = { command: "python", args: ["dist/a.js"], cwd: folder };
    expect(projectBuild({ kind: "command", entry }, folder)).toBeUndefined();
    expect(projectBuild({ kind: "url" }, folder)).toBeUndefined();
  });
});
