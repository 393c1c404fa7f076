import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { inSlices, SLICE_CHARACTERS, SLICE_MS } from "../../src/sessions/in-slices.js";

/** A clock that stands unless a part moves it. */
function partsThatTake(ms: number, texts: readonly string[]) {
  const clock = { ms: 0 };
  function* parts(): Generator<string> {
    for (const text of texts) {
      clock.ms += ms;
      yield text;
    }
  }
  return { parts: parts(), now: () => clock.ms };
}

async function slicesOf(parts: Iterable<string>, now: () => number): Promise<(readonly string[])[]> {
  const slices: (readonly string[])[] = [];
  for await (const slice of inSlices(parts, now)) slices.push(slice);
  return slices;
}

const LETTERS = [..."abcdefghij"];

describe("inSlices", () => {
  it("ends a slice when its time is over, and loses and doubles nothing", async () => {
    const { parts, now } = partsThatTake(SLICE_MS / 4, LETTERS);
    const slices = await slicesOf(parts, now);
    expect(slices.map((slice) => slice.join(""))).toEqual(["abcd", "efgh", "ij"]);
  });

  it("ends a slice when it is long, however fast it was", async () => {
    const long = "x".repeat(SLICE_CHARACTERS / 2);
    const { parts, now } = partsThatTake(0, [long, long, long, "", "y"]);
    expect((await slicesOf(parts, now)).map((slice) => slice.length)).toEqual([2, 3]);
  });

  it("lets others have their turn after each slice", async () => {
    const { parts, now } = partsThatTake(SLICE_MS, LETTERS);
    let [turns, done] = [0, false];
    const others = (async () => {
      while (!done) {
        await setImmediate();
        turns += 1;
      }
    })();
    const slices = await slicesOf(parts, now);
    done = true;
    await others;
    expect(slices).toHaveLength(LETTERS.length);
    expect(turns).toBeGreaterThanOrEqual(LETTERS.length - 1);
  });

  it("makes no part before it is asked for it", async () => {
    const { parts, now } = partsThatTake(SLICE_MS, LETTERS);
    const slices = inSlices(parts, now);
    expect((await slices.next()).value).toEqual(["a"]);
    await slices.return();
    expect(now()).toBe(SLICE_MS);
  });

  it("gives nothing of nothing", async () => {
    expect(await slicesOf([], () => 0)).toEqual([]);
  });
});
