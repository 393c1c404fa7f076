import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import { NEWER_NODES, runNode } from "./newer-nodes.js";

/** Whether this user may mount a disk for a process alone. */
const canMount = (() => {
  try {
    execFileSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

describe.each(NEWER_NODES)("processes on one SQLite file, $name", ({ binary, installed }) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-processes-"));
  let program = "";

  beforeAll(async () => {
    program = await bundleFixture(new URL("./fixtures/shared-file.ts", import.meta.url));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (role: string, file: string, ...more: string[]) =>
    runNode(binary, [program, role, join(folder, file), ...more]);

  function start(role: string, file: string): { child: ChildProcess; lines: AsyncIterator<string> } {
    const child = spawn(binary, ["--disable-warning=ExperimentalWarning", program, role, join(folder, file), "400"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (child.stdout === null) throw new Error("its output is a pipe");
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  }

  it.skipIf(!installed)("lose no increment when they compare and set", async () => {
    // Both make the file at the same time.
    await Promise.all([run("count", "sum.db", "300"), run("count", "sum.db", "300")]);
    expect(await run("sum", "sum.db")).toEqual(["600"]);
  });

  it.skipIf(!installed)("hear each other's messages once, in the order of their publisher", async () => {
    const { child, lines } = start("listen", "heard.db");
    const ended = once(child, "exit");
    expect((await lines.next()).value).toBe("listening");
    await Promise.all([run("publish", "heard.db", "200", "a"), run("publish", "heard.db", "200", "b")]);
    const heard = JSON.parse((await lines.next()).value) as string[];
    await ended;
    for (const name of ["a", "b"]) {
      const own = heard.filter((message) => message.startsWith(name));
      expect(own).toEqual(Array.from({ length: 200 }, (_, index) => `${name}${index}`));
    }
  });

  it.skipIf(!installed)("find every write that was acknowledged before a writer was killed", async () => {
    for (let kill = 0; kill < 3; kill++) {
      const file = `killed-${kill}.db`;
      const { child, lines } = start("write", file);
      const ended = once(child, "exit");
      let last = "";
      for (let count = 0; count < 50 + kill * 37; count++) last = (await lines.next()).value;
      child.kill("SIGKILL");
      await ended;
      for (let next = await lines.next(); next.done !== true; next = await lines.next()) last = next.value;
      const [index = 0, id = 0] = last.split(" ").map(Number);
      const found = JSON.parse((await run("verify", file))[0] ?? "") as Record<string, number>;
      expect(found).toMatchObject({ inOrder: true });
      expect(found["values"]).toBeGreaterThan(index);
      expect(found["entries"]).toBeGreaterThan(index);
      expect(found["lastId"]).toBeGreaterThanOrEqual(id);
      expect(found["nextId"]).toBeGreaterThan(found["lastId"] ?? 0);
    }
  });

  it.skipIf(!installed || process.platform === "win32")("keep what they have when the disk takes no more", async () => {
    // A limit on the size of files stands for a full disk: 1 MiB, and no signal in place of the error.
    const limited = 'trap "" XFSZ; ulimit -f 1024; exec "$@"';
    const words = [binary, "--disable-warning=ExperimentalWarning", program, "fill", join(folder, "full.db")];
    const { stdout } = await promisify(execFile)("bash", ["-c", limited, "bash", ...words], { timeout: 60_000 });
    const { index, known, message } = JSON.parse(stdout) as { index: number; known: boolean; message: string };
    expect(known, message).toBe(true);
    expect(message).toMatch(/full\.db.*disk/);
    expect(index).toBeGreaterThan(10);
    expect(await run("filled", "full.db")).toEqual([String(index)]);
  });

  it.skipIf(!installed || !canMount)("name the disk that has no room for a new file", async () => {
    // A small disk of its own, which ends with the process.
    const onFullDisk = 'mount -t tmpfs -o size=256k tmpfs "$1"; head -c 999999 /dev/zero >"$1/all"; shift; exec "$@"';
    const words = [binary, "--disable-warning=ExperimentalWarning", program, "sum", join(folder, "new.db")];
    const opened = promisify(execFile)("unshare", ["-rm", "bash", "-c", onFullDisk, "bash", folder, ...words]);
    await expect(opened).rejects.toThrow(/its limit diskSpace.*Free space on the disk of .*new\.db/);
  });
});
