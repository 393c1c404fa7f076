import { Server } from "@parley/mcp";
import { quotas } from "@parley/mcp/limits";
import { type KeyValue, memoryStorage, type Storage } from "@parley/mcp/storage";
import { type FakeClock, fakeClock } from "@parley/mcp/testing";
import { describe, expect, it } from "vitest";
import { Drive } from "../server/drive.js";

const BURST = 50;
const LASTS_MS = 1000;

/** The storage as a node sees it that is `ms` away from it, with the number of its round trips. */
function away(storage: Storage, { platform }: FakeClock, ms: number) {
  const seen = { trips: 0 };
  const pass = () => new Promise<void>((resolve) => platform.timer(ms, resolve));
  const trip = async <T>(use: () => T | Promise<T>): Promise<T> => {
    seen.trips++;
    await pass();
    const result = await use();
    await pass();
    return result;
  };
  const kv: KeyValue = {
    get: (key) => trip(() => storage.kv.get(key)),
    set: (...args) => trip(() => storage.kv.set(...args)),
    delete: (...args) => trip(() => storage.kv.delete(...args)),
    touch: (...args) => trip(() => storage.kv.touch(...args)),
  };
  return { storage: { ...storage, kv }, seen };
}

/** The same pauses in every run. */
function repeatableBytes() {
  let state = 1;
  return (count: number) =>
    Uint8Array.from({ length: count }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    });
}

/** What nodes at these distances admit of a flood of one caller, who calls each by `callers` at once and waits as told. */
async function flood(distances: readonly number[], callers: number, ifStorageFails: "node" | "refuse") {
  const clock = fakeClock(1_700_000_000_000);
  const common = memoryStorage({ clock });
  const warnings: string[] = [];
  const randomBytes = repeatableBytes();
  const started = clock.now();
  const times: number[] = [];
  let ended = false;
  const nodes = distances.map((ms) => {
    const { storage, seen } = away(common, clock, ms);
    const rate = { calls: 1000, perMs: 1000, burst: BURST };
    const server = new Server(
      { name: "s", version: "1" },
      {
        quotas: quotas({ perPrincipal: { rate }, on: "storage", ifStorageFails }),
        storage,
        platform: { ...clock.platform, randomBytes, warn: (line) => void warnings.push(line) },
      },
    ).tool("quick", () => "done");
    const node = { admitted: 0, refused: 0, unavailable: 0, seen };
    const drive = new Drive(server, { principal: { key: "ada" } });
    const call = async () => {
      while (!ended) {
        const { result } = await drive.call("quick");
        if (result?.isError !== true) {
          node.admitted++;
          times.push(clock.now() - started);
          continue;
        }
        node.refused++;
        if (result.content?.[0]?.text?.includes("cannot count") === true) node.unavailable++;
        // As `quotas` makes it.
        const meta = result["_meta"] as { "dev.parley/failure": { retryAfterMs: number } };
        const { retryAfterMs } = meta["dev.parley/failure"];
        await new Promise<void>((resolve) => clock.platform.timer(retryAfterMs, resolve));
      }
    };
    for (let caller = 0; caller < callers; caller++) void call();
    return node;
  });
  await clock.advance(LASTS_MS);
  ended = true;
  await clock.advance(1000);
  return { nodes, warnings, times: times.filter((time) => time <= LASTS_MS) };
}

describe.each(["node", "refuse"] as const)(
  "nodes near to and far from a storage, if it fails: %s",
  (ifStorageFails) => {
    it("admit no more than the rate of one busy bucket together, and each of them some", async () => {
      const { nodes, warnings, times } = await flood([1, 1, 8], 10, ifStorageFails);
      expect(warnings).toEqual([]);
      times.forEach((time, index) => {
        expect(index + 1).toBeLessThanOrEqual(BURST + time + 1e-3);
      });
      expect(times.length).toBeGreaterThan(LASTS_MS / 4);
      for (const { admitted, refused, unavailable, seen } of nodes) {
        expect(unavailable).toBe(0);
        expect(admitted).toBeGreaterThan(times.length / 20);
        expect(seen.trips).toBeLessThan(2 * (admitted + refused));
      }
    });
  },
);
