import { describe, expect, it } from "vitest";
import type { ChildEnd, ChildEvents, ChildHandle } from "../../platform/platform.js";
import { fakeClock } from "../../testing/fake-clock.js";
import { platform } from "../platform.js";
import { ChildStream } from "./child-stream.js";
import { LaunchReport } from "./launch-report.js";

/** A child that reads no more, and exits when the test says so. */
function childThatReadsNoMore() {
  const clock = fakeClock();
  let told: ChildEvents | undefined;
  const child: ChildHandle = {
    pid: 1,
    write: () => true,
    endInput() {},
    kill() {},
    treeAlive: () => false,
    pause() {},
    resume() {},
    on(events) {
      told = events;
    },
  };
  const closed: (Error | undefined)[] = [];
  const now = { ...platform, ...clock.platform, defer: (run: () => void) => run() };
  const stream = new ChildStream(() => child, now, new LaunchReport("program", {}));
  stream.open({ data() {}, inputEnded() {}, drained() {}, closed: (reason) => void closed.push(reason) });
  told?.stdinClosed?.();
  return { clock, closed, exit: (end: ChildEnd) => told?.exited(end) };
}

describe("a child that reads no more", () => {
  it("has exited, also where a busy machine tells that late", async () => {
    const { clock, closed, exit } = childThatReadsNoMore();
    await clock.advance(1_500);
    exit({ code: 3 });
    await clock.advance(10_000);
    expect(closed).toMatchObject([{ data: { reason: "exited", exitCode: 3 } }]);
  });

  it("goes on without reading, if it does not exit", async () => {
    const { clock, closed } = childThatReadsNoMore();
    await clock.advance(2_000);
    expect(closed).toMatchObject([{ data: { reason: "stdin_closed" } }]);
  });
});
