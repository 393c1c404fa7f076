import { describe, expect, it } from "vitest";
import { fakeTime } from "../../../test/http/fake-time.js";
import { SeenProofs, TooManyProofs } from "./dpop-proof.js";
import { InvalidToken } from "./verified-token.js";

const MINUTE = 60_000;

/** Uses proofs with the ids from `first` on, and returns how many were accepted. */
async function useMany(seen: SeenProofs, key: string, count: number, first = 0): Promise<number> {
  let accepted = 0;
  for (let at = first; at < first + count; at++) {
    try {
      await seen.use(key, String(at), 5 * MINUTE);
      accepted++;
    } catch (error) {
      if (!(error instanceof TooManyProofs)) throw error;
    }
  }
  return accepted;
}

describe("used proofs", () => {
  it("of one caller that sends 100,000 are limited, and callers after it are served", async () => {
    const time = fakeTime();
    const seen = new SeenProofs(time.platform, 50_000);
    expect(await useMany(seen, "greedy", 100_000)).toBe(50_000);
    for (let caller = 0; caller < 1_000; caller++) await seen.use(`caller ${caller}`, "1", 5 * MINUTE);
    await expect(seen.use("caller 0", "1", MINUTE)).rejects.toThrow(InvalidToken);
    const refused = await seen.use("greedy", "x", MINUTE).catch((error: unknown) => error);
    expect(refused).toMatchObject({ retryAfterMs: 5 * MINUTE });
    time.advance(5 * MINUTE);
    expect(await useMany(seen, "greedy", 10)).toBe(10);
  });

  it("of several greedy callers give way to those of others, which stay remembered", async () => {
    const seen = new SeenProofs(fakeTime().platform, 500, undefined, 1_000);
    await seen.use("honest", "first", 5 * MINUTE);
    expect(await useMany(seen, "a", 2_000)).toBe(500);
    expect(await useMany(seen, "b", 2_000)).toBe(500);
    // Takes from both until all three have the same.
    expect(await useMany(seen, "c", 2_000)).toBe(333);
    expect([await useMany(seen, "a", 100, 9_000), await useMany(seen, "c", 100, 9_000)]).toEqual([0, 0]);
    for (let at = 0; at < 10; at++) await seen.use("honest", String(at), 5 * MINUTE);
    await expect(seen.use("honest", "first", MINUTE)).rejects.toThrow("used before");
    for (let at = 0; at < 10; at++) await expect(seen.use("honest", String(at), MINUTE)).rejects.toThrow("used before");
  });

  it("are remembered until they expire, whatever the order, and not for longer", async () => {
    const time = fakeTime();
    const seen = new SeenProofs(time.platform, 2);
    await seen.use("a", "ahead", 10 * MINUTE);
    await seen.use("b", "short", MINUTE);
    time.advance(MINUTE);
    await seen.use("b", "short", MINUTE);
    await expect(seen.use("a", "ahead", MINUTE)).rejects.toThrow("used before");
    time.advance(9 * MINUTE);
    await seen.use("a", "ahead", MINUTE);
  });

  it("of a hundred thousand keys are bounded, too, and none is forgotten for a key that comes later", async () => {
    const time = fakeTime();
    const seen = new SeenProofs(time.platform, 10, undefined, 1_000);
    let accepted = 0;
    for (let key = 0; key < 100_000; key++) accepted += await useMany(seen, String(key), 1);
    expect(accepted).toBe(1_000);
    for (let key = 0; key < 1_000; key++)
      await expect(seen.use(String(key), "0", MINUTE)).rejects.toThrow("used before");
    const refused = await seen.use("late", "0", MINUTE).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(TooManyProofs);
    expect(refused).toMatchObject({ message: expect.stringContaining("all keys"), retryAfterMs: 5 * MINUTE });
    time.advance(5 * MINUTE);
    expect(await useMany(seen, "late", 1)).toBe(1);
  });

  it("of keys with a small share are kept while a greedy one has more to give", async () => {
    const seen = new SeenProofs(fakeTime().platform, 500, undefined, 1_000);
    expect(await useMany(seen, "greedy", 500)).toBe(500);
    let accepted = 0;
    for (let key = 0; key < 2_000; key++) accepted += await useMany(seen, `key ${key}`, 1);
    // All but the share of the greedy one.
    expect(accepted).toBe(900);
    for (let key = 0; key < 900; key++)
      await expect(seen.use(`key ${key}`, "0", MINUTE)).rejects.toThrow("used before");
    await expect(seen.use("greedy", "499", MINUTE)).rejects.toThrow("used before");
  });

  it("that have expired make room behind a key whose proofs last longer", async () => {
    const time = fakeTime();
    const seen = new SeenProofs(time.platform, 10, undefined, 1_000);
    await seen.use("ahead", "0", 10 * MINUTE);
    for (let key = 0; key < 999; key++) await seen.use(String(key), "0", MINUTE);
    expect(await useMany(seen, "late", 1)).toBe(0);
    time.advance(MINUTE);
    expect(await useMany(seen, "late", 1)).toBe(1);
    await expect(seen.use("ahead", "0", MINUTE)).rejects.toThrow("used before");
  });
});
