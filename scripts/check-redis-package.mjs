// Checks what a user of Redis would install: packs @parley/redis and @parley/mcp, lints the first and its types, and compiles
// and runs a program of a fresh project that has both.
//
// Usage: node scripts/check-redis-package.mjs      after `npm run build`
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { compileProgram, installFresh, pack } from "./pack-package.mjs";
import { exportedNames } from "./package-files.mjs";

const root = resolve(import.meta.dirname, "..");
// Outside the repository, so that nothing of it can be found by accident.
const place = realpathSync(mkdtempSync(join(tmpdir(), "parley-redis-package-")));
const installed = join(place, "node_modules/@parley/redis");
const program = `
import { Server } from "@parley/mcp";
import { redisStorage, type RedisStorage, type RedisStorageOptions } from "@parley/redis";
const options: RedisStorageOptions = { url: "redis://127.0.0.1:1", timeoutMs: 100 };
const storage: RedisStorage = redisStorage(options);
new Server({ name: "s", version: "1" }, { storage, secret: "x".repeat(32) });
`;

try {
  const [redis, library] = ["redis", "mcp"].map((name) => pack(name, place));
  const run = (tool, ...args) =>
    execFileSync(join(root, "node_modules/.bin", tool), args, { cwd: root, stdio: "inherit" });
  run("publint", "run", redis, "--strict");
  run("attw", redis, "--profile", "esm-only", "--format", "table-flipped", "--no-emoji");
  installFresh(place, redis, library);
  checkContents();
  useIt();
  compileProgram(place, program);
} finally {
  rmSync(place, { recursive: true, force: true });
}

function checkContents() {
  const own = ["README.md", "LICENSE", "CHANGELOG.md"].filter((name) => readFileSync(join(installed, name)).length > 0);
  expect(own.length === 3, "it has a README, a licence and a changelog");
  const wanted = exportedNames(readFileSync(join(root, "packages/redis/src/index.ts"), "utf8")).join();
  const built = exportedNames(readFileSync(join(installed, "dist/index.js"), "utf8")).join();
  expect(wanted === built, `it exports exactly ${wanted}`);
}

/** One `StorageFailure` for both: the class of the library that the server knows. */
function useIt() {
  const script = `
    import { StorageFailure } from "@parley/mcp/storage";
    import { redisStorage } from "@parley/redis";
    const storage = redisStorage({ url: "redis://127.0.0.1:1", timeoutMs: 200 });
    const error = await storage.kv.get("k").catch((reason) => reason);
    await storage.close();
    console.log(error instanceof StorageFailure, error.reason);`;
  const options = { cwd: place, encoding: "utf8" };
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], options).trim();
  expect(printed === "true unavailable", `a Redis that is away is a StorageFailure of the library (${printed})`);
}

function expect(holds, what) {
  if (!holds) throw new Error(`@parley/redis: it does not hold that ${what}`);
  console.log(what);
}
