import { describe, expect, it } from "vitest";
import { fakeClock } from "../../testing/fake-clock.js";
import { ChangePace } from "./change-queue.js";

function paced() {
  const clock = fakeClock();
  const turns: (() => void)[] = [];
  const warnings: string[] = [];
  const passed: number[] = [];
  const platform = { ...clock.platform, defer: (run: () => void) => void turns.push(run) };
  const pace = new ChangePace(platform as never, (message: string) => void warnings.push(message));
  const announce = (list = "tools") => pace.announced(list, () => void passed.push(clock.now()));
  const turn = () => {
    for (const run of turns.splice(0)) run();
  };
  return { clock, pace, passed, warnings, announce, turn };
}

describe("the pace of changes of lists", () => {
  it("passes none on in the turn in which it was announced, and joins those that come meanwhile", async () => {
    const { passed, announce, turn } = paced();
    announce();
    announce();
    await Promise.resolve();
    expect(passed).toHaveLength(0);
    turn();
    expect(passed).toHaveLength(1);
    announce();
    announce("prompts");
    turn();
    expect(passed).toHaveLength(3);
  });

  it("slows down while a server goes on announcing, below 30 a minute, and says so once", async () => {
    const { clock, passed, warnings, announce, turn } = paced();
    for (let ms = 0; ms < 600_000; ms += 50) {
      announce();
      turn();
      await clock.advance(50);
    }
    expect(warnings).toEqual([expect.stringContaining("20 changes of its tools within a minute")]);
    for (let from = 0; from < 600_000; from += 10_000) {
      const inMinute = passed.filter((at) => at >= from && at < from + 60_000);
      expect(inMinute.length).toBeLessThanOrEqual(30);
    }
    // None is lost: the last one announced comes within the longest pause.
    const before = passed.length;
    announce();
    turn();
    await clock.advance(15_000);
    expect(passed.length).toBeGreaterThan(before);
  });

  it("is as quick as before after a quiet minute", async () => {
    const { clock, passed, announce, turn } = paced();
    for (let count = 0; count < 200; count++) {
      announce();
      turn();
      await clock.advance(100);
    }
    await clock.advance(60_000);
    const before = passed.length;
    announce();
    turn();
    expect(passed).toHaveLength(before + 1);
  });

  it("passes nothing on after it was stopped", async () => {
    const { clock, pace, passed, announce, turn } = paced();
    announce();
    pace.stop();
    turn();
    await clock.advance(60_000);
    expect(passed).toHaveLength(0);
  });
});
