import { describe, expect, it } from "vitest";
import { onAbort } from "./abort-watch.js";

describe("onAbort", () => {
  it("tells every watcher once, and those who left not at all", () => {
    const controller = new AbortController();
    const told: number[] = [];
    const leaves = [1, 2, 3].map((name) => onAbort(controller.signal, () => told.push(name)));
    leaves[1]?.();
    controller.abort();
    for (const leave of leaves) leave();
    expect(told).toEqual([1, 3]);
  });

  it("a watcher may leave others while it is told", () => {
    const controller = new AbortController();
    const told: number[] = [];
    const leaves: (() => void)[] = [];
    for (const name of [1, 2]) {
      leaves.push(
        onAbort(controller.signal, () => {
          told.push(name);
          for (const leave of leaves) leave();
        }),
      );
    }
    controller.abort();
    expect(told).toEqual([1, 2]);
  });

  it("works again on the same signal after everybody left", () => {
    const controller = new AbortController();
    let told = 0;
    onAbort(controller.signal, () => told++)();
    onAbort(controller.signal, () => told++);
    controller.abort();
    expect(told).toBe(1);
  });
});
