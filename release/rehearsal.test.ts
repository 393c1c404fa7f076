import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileProgram, LEAST_COMPILER, NODE_TYPES } from "../scripts/pack-package.mjs";
import { publishedPackages } from "../scripts/workspace-packages.mjs";
import { type LoopbackRegistry, plainEnvironment, startRegistry } from "./registry.js";
import { runPage } from "./run-page.js";

const root = resolve(import.meta.dirname, "..");
const head = spawnSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" });
if (head.status !== 0) console.log("the rehearsal of a release was skipped: this checkout has no git history to clone");
/** Ends what hangs: an installation on a busy machine takes long. */
const LIMIT_MS = 600_000;

const place = realpathSync(mkdtempSync(join(tmpdir(), "parley-rehearsal-")));
const checkout = join(place, "checkout");
const shell = plainEnvironment();
/** Makes an empty folder of a user who has installed nothing yet. */
const emptyFolder = (name: string) => {
  mkdirSync(join(place, name), { recursive: true });
  return join(place, name);
};

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line as a shell does, without quotes. */
function run(line: string, cwd: string, env: Readonly<Record<string, string>> = shell): Promise<Ended> {
  const [program = "", ...words] = line.split(" ");
  return new Promise((settle) => {
    const options = { cwd, env, timeout: LIMIT_MS, maxBuffer: 1e8, shell: process.platform === "win32" };
    const child: ChildProcess = execFile(program, words, options, (_error, stdout, stderr) =>
      settle({ code: child.exitCode ?? 1, stdout: stdout.trim(), stderr: stderr.trim() }),
    );
    child.stdin?.end();
  });
}

/** Runs a command line that must succeed, and returns what it prints. */
async function succeed(...args: Parameters<typeof run>): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect(code, `${args[0]}\n${stdout}\n${stderr}`).toBe(0);
  return stdout;
}

const git = (...words: string[]) => {
  const identity = [
    "user.name=Rehearsal",
    "user.email=rehearsal@example.com",
    "commit.gpgsign=false",
    "tag.gpgsign=false",
  ];
  const options = identity.flatMap((one) => ["-c", one]);
  const { status, stdout, stderr } = spawnSync("git", [...options, ...words], { cwd: checkout, encoding: "utf8" });
  expect(status, `git ${words.join(" ")}\n${stderr}`).toBe(0);
  return stdout.trim();
};

describe.skipIf(head.status !== 0)(
  "a release from a clean clone to a registry on loopback",
  { timeout: LIMIT_MS },
  () => {
    let registry: LoopbackRegistry;
    let version: string;
    let printed: string;
    const publish = () => run(`node scripts/release.mjs publish --registry ${registry.url}`, checkout, registry.env);
    const manifestOf = (folder: string) =>
      // Written by npm.
      JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
        version: string;
        dependencies: Record<string, string>;
      };

    beforeAll(async () => {
      registry = await startRegistry(emptyFolder("registry"));
      await succeed(`git clone --quiet --depth 1 ${pathToFileURL(root).href} ${checkout}`, place);
      await succeed("npm ci --prefer-offline --ignore-scripts --loglevel=error", checkout);
      ({ version } = manifestOf(join(checkout, "packages/mcp")));
      // Changes that no release has yet would go out with the next version.
      const [, unreleased = ""] = readFileSync(join(checkout, "CHANGELOG.md"), "utf8").split(/^## .*\n/m);
      if (/^- /m.test(unreleased)) {
        version = version.replace(/\d+$/, (last) => String(Number(last) + 1));
        await succeed(`node scripts/release.mjs version ${version}`, checkout);
        git("commit", "--quiet", "--all", "--message", `release: set the version to ${version}`);
      }
      git("tag", `v${version}`);
      await succeed("npm run build", checkout);
      const { code, stdout, stderr } = await publish();
      expect(code, stderr).toBe(0);
      printed = stdout;
    }, LIMIT_MS);

    afterAll(async () => {
      await registry?.close();
      rmSync(place, { recursive: true, force: true });
    });

    it("publishes every package, each after those that it needs", async () => {
      const names = publishedPackages(checkout).map(({ manifest }) => manifest.name);
      expect(names.length).toBeGreaterThanOrEqual(4);
      expect(printed.match(/^published .*$/gm)).toEqual(names.map((name) => `published ${name}@${version}`));
      for (const name of names) {
        const tags = JSON.parse(await succeed(`npm view ${name} dist-tags --json`, place, registry.env)) as object;
        expect(tags, name).toMatchObject({ [version.includes("-") ? "next" : "latest"]: version });
      }
    });

    it("skips what is published when it is run again", async () => {
      const { code, stdout } = await publish();
      expect(code).toBe(0);
      expect(stdout).not.toMatch(/^published/m);
      expect(stdout.match(/^skipped .*: it is published$/gm)).toHaveLength(publishedPackages(checkout).length);
    });

    describe("is refused", () => {
      const commit = () => {
        git("commit", "--quiet", "--all", "--message", "tests: change a file");
        git("tag", "--force", `v${version}`);
      };
      const change = (path: string, text = "\n") => appendFileSync(join(checkout, path), text);

      it.each<[string, RegExp, () => void]>([
        ["of a dirty tree", /the work tree has changes:\n.*README/, () => change("README.md")],
        ["without its tag", /has no tag v/, () => git("tag", "--delete", `v${version}`)],
        [
          "without its section of the changelog",
          /CHANGELOG\.md has no section/,
          () => {
            const path = join(checkout, "CHANGELOG.md");
            writeFileSync(path, readFileSync(path, "utf8").replace(`## ${version} - `, "## 0.0.1 - "));
            commit();
          },
        ],
        [
          "of packages with different versions",
          /packages\/redis\/package\.json.* has another version than/,
          () => {
            const path = join(checkout, "packages/redis/package.json");
            writeFileSync(path, readFileSync(path, "utf8").replace(`"version": "${version}"`, '"version": "0.0.1"'));
            commit();
          },
        ],
        [
          "of a stale build",
          /@parley\/mcp cannot be packed: the sources changed after the build/,
          () => {
            change("packages/mcp/src/index.ts");
            commit();
          },
        ],
        [
          "of a version that the registry has with other content",
          /has @parley\/redis@.* with other content/,
          () => {
            change("packages/redis/README.md");
            commit();
          },
        ],
      ])("%s", async (_what, reason, breakIt) => {
        const before = git("rev-parse", "HEAD");
        try {
          breakIt();
          const { code, stdout, stderr } = await publish();
          expect(stderr).toMatch(reason);
          expect(stderr).toContain("fix: ");
          expect([code, stdout.match(/^published/m)]).toEqual([1, null]);
        } finally {
          git("reset", "--quiet", "--hard", before);
          git("tag", "--force", `v${version}`);
        }
      });

      it("without the word that the configured registry is meant", async () => {
        const { CI: _, ...env } = registry.env;
        const { code, stderr } = await run("node scripts/release.mjs publish", checkout, env);
        expect([code, stderr]).toEqual([
          1,
          expect.stringContaining(`publishes to ${registry.url}; fix: Add \`--yes\``),
        ]);
      });
    });

    describe("npm pack and npm publish by hand refuse", () => {
      const folder = join(checkout, "packages/redis");
      const record = () => spawnSync(process.execPath, ["scripts/check-build.mjs", "--record"], { cwd: checkout });
      const edit = (path: string, text: string) => writeFileSync(join(folder, path), text);

      it.each<[string, string, () => void]>([
        ["a package without a build", "dist is missing", () => rmSync(join(folder, "dist"), { recursive: true })],
        ["a build older than its sources", "the sources changed", () => edit("src/index.ts", "export {};\n")],
        ["an interrupted build", "its built files changed", () => edit("dist/index.js", "")],
        [
          "an entry that does not exist",
          "package.json names ./dist/none.js",
          () => {
            const text = readFileSync(join(folder, "package.json"), "utf8");
            edit("package.json", text.replace('"./dist/index.js"', '"./dist/none.js"'));
            record();
          },
        ],
        [
          "an entry that cannot be imported",
          "its build does not run: Error",
          () => {
            edit("dist/index.js", 'import "./none.js";\n');
            record();
          },
        ],
        [
          "a list of packages of this machine",
          "refers to files of this machine",
          () => edit("dist/local-packages.json", "{}"),
        ],
      ])("%s", async (_what, reason, breakIt) => {
        cpSync(folder, join(place, "saved"), { recursive: true });
        try {
          breakIt();
          for (const line of ["npm pack", `npm publish --tag next --provenance=false --dry-run`]) {
            const { code, stderr } = await run(line, folder, registry.env);
            expect([code, stderr], line).toEqual([1, expect.stringContaining(reason)]);
            expect(stderr).toMatch(/@parley\/redis cannot be packed: .*(fix: |does not run)/);
          }
        } finally {
          rmSync(folder, { recursive: true });
          cpSync(join(place, "saved"), folder, { recursive: true });
          rmSync(join(place, "saved"), { recursive: true });
          record();
        }
      });

      it("nothing else", async () => {
        await succeed("npm pack --dry-run", folder, registry.env);
      });
    });

    it("gives a program the library", async () => {
      const folder = emptyFolder("library");
      await succeed("npm install @parley/mcp zod", folder, registry.env);
      expect(manifestOf(join(folder, "node_modules/@parley/mcp")).version).toBe(version);
      const program = `
      import { connect, Server } from "@parley/mcp";
      import { z } from "zod";
      const input = z.object({ a: z.number(), b: z.number() });
      const server = new Server({ name: "sums", version: "1" }).tool("add", { input }, ({ a, b }) => String(a + b));
      const client = await connect(server);
      console.log(await client.call("add", { a: 1, b: 2 }));
      await client.close();`;
      writeFileSync(join(folder, "main.mjs"), program);
      expect(await succeed("node main.mjs", folder, registry.env)).toBe("3");
    });

    it("gives a program the storage and the inspector, with types that compile in full", async () => {
      const folder = emptyFolder("others");
      const others = `${NODE_TYPES} ${LEAST_COMPILER}`;
      await succeed(`npm install @parley/mcp @parley/redis @parley/inspector ${others}`, folder, registry.env);
      writeFileSync(join(folder, "storage.mjs"), STORAGE_PROGRAM);
      expect(await succeed("node storage.mjs", folder, registry.env)).toBe("true unavailable");
      writeFileSync(join(folder, "inspector.mjs"), INSPECTOR_PROGRAM);
      const result = JSON.parse(await succeed("node inspector.mjs", folder, registry.env)) as object;
      expect(result).toMatchObject({ statuses: [200, 200, 200, 401], listed: { ok: true, value: expect.anything() } });
      expect(JSON.stringify(result)).toContain('"greet"');
      compileProgram(folder, TYPED_PROGRAM);
    });

    describe("the command line, installed globally", () => {
      const folder = emptyFolder("one-file");
      const parley = (words: string) => succeed(`parley ${words}`, folder, registry.env);

      beforeAll(async () => {
        await succeed("npm install --global @parley/cli", folder, registry.env);
        writeFileSync(join(folder, "server.ts"), ONE_FILE_SERVER);
      }, LIMIT_MS);

      it("has its version, and no path of the machine that packed it", async () => {
        expect(await parley("--version")).toBe(version);
        const installed = join(await succeed("npm root --global", folder, registry.env), "@parley/cli");
        expect(existsSync(join(installed, "dist/local-packages.json"))).toBe(false);
      });

      it("calls a server in one file, with nothing else in the folder", async () => {
        expect(await parley("call ./server.ts greet")).toBe("hello");
        expect(await parley("call greet -- parley run ./server.ts --stdio")).toBe("hello");
        expect(existsSync(join(folder, "node_modules"))).toBe(false);
      });

      it("calls a server of a project that has the library", async () => {
        const project = emptyFolder("project");
        await succeed("npm install @parley/mcp", project, registry.env);
        writeFileSync(join(project, "server.ts"), ONE_FILE_SERVER);
        expect(await succeed("parley call ./server.ts greet", project, registry.env)).toBe("hello");
      });

      it("opens the inspector", async () => {
        const inspecting = spawn("parley", ["inspect", "./server.ts", "--no-open", "--json"], {
          cwd: folder,
          env: registry.env,
        });
        try {
          const [line] = (await once(createInterface({ input: inspecting.stdout }), "line")) as [string];
          const { url } = JSON.parse(line) as { url: string };
          const page = await fetch(url);
          const cookie = page.headers.get("set-cookie")?.split(";")[0] ?? "";
          const script = await fetch(new URL("/inspector.js", url), { headers: { cookie } });
          expect([page.status, script.status]).toEqual([200, 200]);
        } finally {
          inspecting.kill();
        }
      });

      it("creates a project that passes its tests", async () => {
        await parley("init made --yes");
        await succeed("npm install", join(folder, "made"), registry.env);
        await succeed("npm test", join(folder, "made"), registry.env);
        expect(await parley("list ./made/src/server.ts tools")).toContain("add");
      });
    });

    describe("the page Getting started", () => {
      const page = join(root, "docs/getting-started.md");
      const text = readFileSync(page, "utf8");
      const byHand = text.slice(text.indexOf("**By hand.**"));
      const created = text.slice(text.indexOf("## Create a project"), text.indexOf("## Try it"));
      /** Runs a page with the configuration of applications of its own. */
      const runIn = (folder: string, path: string, node?: string) => {
        const home = emptyFolder(`${folder}-home`);
        const env = { ...registry.env, HOME: home, USERPROFILE: home, APPDATA: home };
        return runPage({ page: path, folder: emptyFolder(folder), env, ...(node === undefined ? {} : { node }) });
      };
      const node24 = join(root, "packages/mcp/test/runtimes/node_modules/node24/bin/node");
      if (!existsSync(node24)) console.log("the page was not run on Node 24: `npm run runtimes` installs it");

      it.each([process.execPath, ...(existsSync(node24) ? [node24] : [])])("runs line by line on %s", async (node) => {
        const steps = await runIn(`page-${node === node24 ? "24" : "own"}`, page, node);
        expect(steps.map(({ command }) => command)).toContain("npm create parley@latest notes");
      });

      it.each([
        ["npm create parley@latest notes", created],
        ["npm install", created],
        [" && npm pkg set type=module", byHand],
        ["npm install @parley/mcp", byHand],
      ])("fails without `%s`", async (step, part) => {
        const folder = `without-${step.replace(/\W+/g, "-")}`;
        const shortened = join(place, `${folder}.md`);
        expect(part).toContain(step);
        writeFileSync(shortened, part.replace(step, ""));
        await expect(runIn(folder, shortened)).rejects.toThrow(`${shortened}:`);
      });
    });

    it("lets `npm create parley` make a project that passes its tests", async () => {
      const folder = emptyFolder("create");
      await succeed("npm create parley@latest my-server -- --yes", folder, registry.env);
      await succeed("npm install", join(folder, "my-server"), registry.env);
      await succeed("npm test", join(folder, "my-server"), registry.env);
      expect(manifestOf(join(folder, "my-server/node_modules/@parley/mcp")).version).toBe(version);
    });

    describe("npm run install:local", () => {
      const home = emptyFolder("local");
      // The configured registry: the one on loopback has the same packages, and npm could take them from there.
      const env = {
        ...shell,
        HOME: home,
        USERPROFILE: home,
        npm_config_prefix: home,
        npm_config_update_notifier: "false",
      };
      const programs = process.platform === "win32" ? home : join(home, "bin");

      it("installs the command line of a checkout, which makes projects of its packages", async () => {
        const told = await succeed("npm run --silent install:local", checkout, env);
        expect(told.split("\n").slice(-3)).toEqual([
          `Installed parley ${version} into ${home}. Next:`,
          "  parley --version",
          "  parley init my-server",
        ]);
        expect(await succeed(`${join(programs, "parley")} --version`, home, env)).toBe(version);
        expect(git("status", "--porcelain")).toBe("");
        await succeed(`${join(programs, "parley")} init my-server --yes`, home, env);
        const made = join(home, "my-server");
        expect(manifestOf(made).dependencies["@parley/mcp"]).toMatch(/^file:.*\.tgz$/);
        await succeed("npm install", made, env);
        await succeed("npm test", made, env);
      });

      it("installs the packages of a checkout into a project", async () => {
        const project = emptyFolder("local-project");
        const refused = await run(`npm run --silent install:local -- ${project}`, checkout, env);
        expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("there is no package.json in")]);
        await succeed("npm init --yes", project, env);
        await succeed(`npm run --silent install:local -- ${project}`, checkout, env);
        expect(await succeed("npx @parley/cli --version", project, env)).toBe(version);
        expect(manifestOf(project).dependencies["@parley/mcp"]).toMatch(/^file:.*\.tgz$/);
      });
    });
  },
);

const ONE_FILE_SERVER = `import { Server } from "@parley/mcp";
export const server = new Server({ name: "mine", version: "1" }).tool("greet", () => "hello" as string);
`;

/** Prints that a Redis that is away is a failure of the library's own class: both packages load one copy of it. */
const STORAGE_PROGRAM = `
import { StorageFailure } from "@parley/mcp/storage";
import { redisStorage } from "@parley/redis";
const storage = redisStorage({ url: "redis://127.0.0.1:1", timeoutMs: 200 });
const error = await storage.kv.get("k").catch((reason) => reason);
await storage.close();
console.log(error instanceof StorageFailure, error.reason);
`;

/** Prints what became of the page, of an action, and of a request without keys. */
const INSPECTOR_PROGRAM = `
import { Server } from "@parley/mcp";
const server = new Server({ name: "mine", version: "1" }).tool("greet", () => "hello");
const inspector = await server.inspect({ open: false });
const { origin, searchParams } = new URL(inspector.url);
const page = await fetch(inspector.url);
const cookie = page.headers.get("set-cookie").split(";")[0];
const files = await Promise.all(["/inspector.js", "/inspector.css"].map((path) => fetch(origin + path, { headers: { cookie } })));
const keys = { cookie, "x-parley-token": searchParams.get("token") };
const act = (name, input, headers) =>
  fetch(origin + "/api/" + name, { method: "POST", headers: { ...headers, origin, "content-type": "application/json" }, body: JSON.stringify(input) });
const events = await fetch(origin + "/api/events?from=0", { headers: keys });
let text = "";
let connection;
for await (const part of events.body.pipeThrough(new TextDecoderStream())) {
  text += part;
  const states = text.split("\\n").slice(0, -1).filter((line) => line !== "").map((line) => JSON.parse(line).state);
  connection = states.findLast((state) => state !== undefined)?.connections[0];
  if (connection?.status === "ready") break;
}
const listed = await (await act("list", { connection: connection.id, kind: "tools" }, keys)).json();
const refused = await act("list", {}, {});
await inspector.close();
console.log(JSON.stringify({ statuses: [page, ...files, refused].map(({ status }) => status), listed }));
`;

const TYPED_PROGRAM = `
import { inspect, type Inspector, type InspectorTarget, startInspector } from "@parley/inspector";
import { Server } from "@parley/mcp";
import { redisStorage, type RedisStorage, type RedisStorageOptions } from "@parley/redis";
const options: RedisStorageOptions = { url: "redis://127.0.0.1:1", timeoutMs: 100 };
const storage: RedisStorage = redisStorage(options);
const server = new Server({ name: "s", version: "1" }, { storage, secret: "x".repeat(32) });
const targets: InspectorTarget[] = [];
const opened: Inspector = await startInspector({ targets, port: 0 });
console.log(opened.url, (await inspect(server, { open: false })).url, (await server.inspect({ open: false })).url);
`;
