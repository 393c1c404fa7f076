import { mkdtemp, readFile, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { acquireLock } from "./file-token-store.js";

it("knows whether it is still held, and releases no lock of another", async () => {
  const folder = await mkdtemp(join(tmpdir(), "lock-file-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "lock");
  const first = await acquireLock(path);
  expect(await first?.isHeld()).toBe(true);
  const past = new Date(Date.now() - 60_000);
  await utimes(path, past, past);
  const second = await acquireLock(path);
  expect([await first?.isHeld(), await second?.isHeld()]).toEqual([false, true]);
  const content = await readFile(path, "utf8");
  await first?.release();
  expect(await readFile(path, "utf8")).toBe(content);
  await second?.release();
  await expect(readFile(path)).rejects.toMatchObject({ code: "ENOENT" });
});
