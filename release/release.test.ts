import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { publishedPackages } from "../scripts/workspace-packages.mjs";
import { startRegistry } from "./registry.js";

const root = resolve(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const toJson = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

/** A small workspace with one of each thing that names a version. */
const FILES: Readonly<Record<string, string>> = {
  "package.json": toJson({ name: "small", private: true, workspaces: ["packages/*"] }),
  "packages/app/package.json": toJson({
    name: "@small/app",
    version: "0.1.0",
    bin: { app: "bin/app.js" },
    dependencies: { "@small/library": "^0.1.0", other: "^0.1.0" },
  }),
  "packages/app/src/app.ts": "export const app = 1;\n",
  "packages/library/package.json": toJson({
    name: "@small/library",
    version: "0.1.0",
    peerDependencies: { "@small/app": "^0.1.0" },
    peerDependenciesMeta: { "@small/app": { optional: true } },
  }),
  "packages/library/src/deep/info.ts":
    'export const LIBRARY_VERSION = "0.1.0";\nexport const PROTOCOL_VERSION = "2025-11-25";\n',
  "packages/tools/package.json": toJson({ name: "tools", version: "0.0.0", private: true }),
  "package-lock.json": toJson({
    name: "small",
    packages: {
      "packages/app": {
        name: "@small/app",
        version: "0.1.0",
        dependencies: { "@small/library": "^0.1.0", other: "^0.1.0" },
      },
      "packages/library": { name: "@small/library", version: "0.1.0", peerDependencies: { "@small/app": "^0.1.0" } },
    },
  }),
  "CHANGELOG.md":
    "# Changelog\n\nAll changes.\n\n## Unreleased\n\n### Added\n\n- A library.\n\n## 0.1.0 - 2025-01-01\n\n- The start.\n",
};

describe("release.mjs version", () => {
  let place: string;
  const git = (...words: string[]) => {
    const identity = ["-c", "user.name=Tests", "-c", "user.email=tests@example.com", "-c", "commit.gpgsign=false"];
    return spawnSync("git", [...identity, ...words], { cwd: place, encoding: "utf8" }).stdout.trimEnd();
  };
  const commit = () => {
    git("add", "--all");
    git("commit", "--quiet", "--message", "tests: change files");
  };
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  };
  const text = (path: string) => readFileSync(join(place, path), "utf8");
  const release = (...words: string[]) => {
    const options = { cwd: place, encoding: "utf8" } as const;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, "scripts/release.mjs"), ...words],
      options,
    );
    return { status, stdout, stderr };
  };

  beforeEach(() => {
    place = realpathSync(mkdtempSync(join(tmpdir(), "parley-version-")));
    for (const [path, content] of Object.entries(FILES)) write(path, content);
    git("init", "--quiet");
    commit();
  });
  afterEach(() => rmSync(place, { recursive: true, force: true }));

  it("sets every place that names the version, and cuts the changelog", () => {
    expect(release("version", "1.0.0-rc.1")).toMatchObject({ status: 0, stderr: "" });
    const expected = Object.entries(FILES).map(([path, content]) => {
      const renewed = content
        .replaceAll('"version": "0.1.0"', '"version": "1.0.0-rc.1"')
        .replaceAll(/("@small\/\w+": )"\^0\.1\.0"/g, '$1"^1.0.0-rc.1"')
        .replace('LIBRARY_VERSION = "0.1.0"', 'LIBRARY_VERSION = "1.0.0-rc.1"')
        .replace("## Unreleased\n", "## Unreleased\n\n## 1.0.0-rc.1 - DATE\n");
      return [path, renewed];
    });
    const found = Object.keys(FILES).map((path) => [
      path,
      text(path).replace(/rc\.1 - \d{4}-\d\d-\d\d$/m, "rc.1 - DATE"),
    ]);
    expect(found).toEqual(expected);
    commit();
    expect(release("notes")).toEqual({ status: 0, stdout: "### Added\n\n- A library.\n", stderr: "" });
  });

  it("orders versions as Semantic Versioning does", () => {
    // The chain of section 11 of its text, after one of numbers that must not be compared as text.
    const alphas = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta"];
    const chain = ["0.9.0", "0.10.0", ...alphas, "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0"];
    for (const [at, version] of chain.entries()) {
      expect(release("version", version), version).toMatchObject({ status: 0 });
      write("CHANGELOG.md", text("CHANGELOG.md").replace("## Unreleased\n", "## Unreleased\n\n- More.\n"));
      commit();
      for (const older of [chain[at - 1] ?? "0.1.0", version])
        expect(release("version", older).stderr, `${older} after ${version}`).toContain(`${older} is not newer than`);
    }
  });

  it.each([
    ["1"],
    ["1.2"],
    ["v1.2.3"],
    ["01.2.3"],
    ["1.2.3-"],
    ["1.2.3-rc..1"],
    ["1.2.3+build"],
    ["1.2.3 "],
    ["latest"],
    [""],
  ])("refuses %j, which is not a version", (version) => {
    const { status, stderr } = release("version", version);
    expect([status, stderr]).toEqual([
      1,
      `release: "${version}" is not a version; fix: Use a form such as 1.2.3 or 1.2.3-rc.1.\n`,
    ]);
    expect(git("status", "--porcelain")).toBe("");
  });

  it.each<[string, string, (() => void) | undefined]>([
    ["a changed file", "the work tree has changes:\n M CHANGELOG.md", () => write("CHANGELOG.md", "")],
    ["a file that git does not know", "the work tree has changes:\n?? new.txt", () => write("new.txt", "")],
    [
      "a changelog without changes",
      "the section Unreleased of CHANGELOG.md is empty",
      () => {
        write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n### Added\n\n## 0.1.0 - 2025-01-01\n\n- The start.\n");
        commit();
      },
    ],
    [
      "a changelog without its section",
      "CHANGELOG.md has no section Unreleased",
      () => {
        write("CHANGELOG.md", "# Changelog\n");
        commit();
      },
    ],
    [
      "a lockfile without a package",
      "package-lock.json has no @small/library",
      () => {
        write("package-lock.json", toJson({ packages: { "packages/app": { name: "@small/app", version: "0.1.0" } } }));
        commit();
      },
    ],
  ])("refuses %s, and changes nothing", (_what, reason, prepare) => {
    prepare?.();
    const before = git("status", "--porcelain");
    const { status, stderr } = release("version", "1.0.0");
    expect([status, stderr]).toEqual([1, expect.stringContaining(reason)]);
    expect(stderr).toContain("; fix: ");
    expect(git("status", "--porcelain")).toBe(before);
  });

  const words = [[], ["version"], ["version", "1.0.0", "2.0.0"], ["publish", "now"], ["undo"], ["publish", "--force"]];
  it.each(words.map((some) => ({ some })))("refuses the words $some", ({ some }) => {
    const { status, stderr } = release(...some);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^release: .*(not known|Unknown option)/)]);
  });
});

describe("the packages of this repository", () => {
  it("agree on a version that the changelog has", () => {
    const options = { cwd: root, encoding: "utf8" } as const;
    const { stdout, stderr } = spawnSync(process.execPath, ["scripts/release.mjs", "notes"], options);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^- /m);
  });

  it("are published for everybody, with provenance, and checked before they are packed", () => {
    const names = publishedPackages(root).map(({ manifest }) => manifest.name);
    expect(names.indexOf("@parley/mcp")).toBeLessThan(names.indexOf("@parley/inspector"));
    expect(names.indexOf("@parley/inspector")).toBeLessThan(names.indexOf("@parley/cli"));
    for (const { manifest } of publishedPackages(root)) {
      expect(manifest, manifest.name).toMatchObject({
        publishConfig: { access: "public", provenance: true },
        scripts: { prepack: "node ../../scripts/check-build.mjs" },
      });
    }
  });

  it("need no dependency with an install script, since npm would run it", () => {
    // Written by npm.
    const { packages } = JSON.parse(read("package-lock.json")) as {
      packages: Record<string, { hasInstallScript?: true }>;
    };
    const found = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect(found.map(([path]) => path)).toEqual([]);
    // `prepack` would not run either.
    expect(read(".npmrc")).not.toContain("ignore-scripts");
  });
});

describe("the registry on loopback", () => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-registry-")));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("serves loopback alone, knows no package of Parley from elsewhere, and lets no stranger publish", async () => {
    const { url, env, close } = await startRegistry(folder);
    try {
      expect(new URL(url).hostname).toBe("127.0.0.1");
      expect(env).toMatchObject({ npm_config_registry: url, HOME: expect.stringContaining(folder) });
      for (const name of ["@parley%2fmcp", "create-parley"]) expect((await fetch(url + name)).status, name).toBe(404);
      const body = JSON.stringify({ name: "create-parley", versions: {} });
      const headers = { "content-type": "application/json" };
      const refused = await fetch(`${url}create-parley`, { method: "PUT", headers, body });
      expect(refused.status).toBe(401);
    } finally {
      await close();
    }
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  it("says why it did not start", async () => {
    writeFileSync(join(folder, "storage"), "a file where the folder belongs");
    await expect(startRegistry(folder)).rejects.toThrow(
      /^the registry ended with 1 instead of starting:[\s\S]*ENOTDIR/,
    );
  });
});

describe("the workflow of a release", () => {
  interface Workflow {
    readonly on: object;
    readonly permissions: object;
    readonly jobs: Record<string, { permissions?: object; steps: { uses?: string; run?: string; env?: object }[] }>;
  }
  // Its form is checked by the tests.
  const workflow = parse(read(".github/workflows/release.yml")) as Workflow;
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);
  const commands = steps.flatMap(({ run }) => run?.trim().split("\n") ?? []);

  it("runs on tags of versions alone, with the rights that it needs and no token for npm", () => {
    expect(workflow.on).toEqual({ push: { tags: ["v*"] } });
    expect(workflow.permissions).toEqual({ contents: "read" });
    expect(Object.values(workflow.jobs).map(({ permissions }) => permissions)).toEqual([
      { contents: "write", "id-token": "write" },
    ]);
    expect(read(".github/workflows/release.yml")).not.toMatch(/NPM_TOKEN|NODE_AUTH_TOKEN/);
  });

  it("tests before it publishes, by the script that the rehearsal runs", () => {
    const order = ["npm ci --ignore-scripts", "npm test", "npm run build", "node scripts/release.mjs publish"];
    const places = order.map((command) => commands.indexOf(command));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(commands.at(-1)).toMatch(/^gh release create .* --notes-file/);
    expect(read("release/rehearsal.test.ts")).toContain("node scripts/release.mjs publish");
  });

  it("uses the actions of the other workflow", () => {
    const others = [...read(".github/workflows/ci.yml").matchAll(/uses: (\S+)/g)].map(([, name]) => name);
    for (const { uses } of steps) if (uses !== undefined) expect(others).toContain(uses);
  });

  it("names no script that does not exist", () => {
    // Written by npm.
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    for (const command of commands) {
      const [, script] = /^npm (?:run )?(\S+)/.exec(command) ?? [];
      if (script !== undefined && script !== "ci" && script !== "install") expect(scripts).toHaveProperty([script]);
      const [, program] = /^node (\S+)/.exec(command) ?? [];
      if (program !== undefined) expect(existsSync(join(root, program)), program).toBe(true);
    }
  });
});
