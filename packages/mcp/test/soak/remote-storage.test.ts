import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStorage } from "@parley/mcp/storage";
import { storageContract } from "@parley/mcp/testing";
import { describe, it } from "vitest";
import { remoteStorage, serveStorage } from "./remote-storage.js";

describe("a storage of another process", () => {
  it.each(storageContract())("$name", async (rule) => {
    let now = 0;
    const path = join(tmpdir(), `parley-${randomUUID()}.sock`);
    const stop = await serveStorage(memoryStorage({ clock: { now: () => now } }), path);
    const [one, other] = [await remoteStorage(path), await remoteStorage(path)];
    try {
      const advance = (ms: number) => {
        now += ms;
      };
      await rule.run(one, { advance }, other);
    } finally {
      one.close?.();
      other.close?.();
      await stop();
    }
  });
});
