import { describe, expect, it } from "vitest";
import { onAbort } from "./on-abort.js";

describe("onAbort", () => {
  it("calls every function once, and removed ones not at all", () => {
    const controller = new AbortController();
    const told: number[] = [];
    const leaves = [1, 2, 3].map((name) => onAbort(controller.signal, () => told.push(name)));
    leaves[1]?.();
    controller.abort();
    for (const leave of leaves) leave();
    expect(told).toEqual([1, 3]);
  });

  it("does not call a function that another one removes while the signal aborts", () => {
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
    expect(told).toEqual([1]);
  });

  it("works again on the same signal after all functions were removed", () => {
    const controller = new AbortController();
    let told = 0;
    onAbort(controller.signal, () => told++)();
    onAbort(controller.signal, () => told++);
    controller.abort();
    expect(told).toBe(1);
  });

  it("calls at once if the signal has aborted, and does nothing without a signal", () => {
    let called = 0;
    onAbort(AbortSignal.abort(), () => called++)();
    onAbort(undefined, () => called++)();
    expect(called).toBe(1);
  });

  it("keeps the same function of two callers apart", () => {
    const controller = new AbortController();
    let called = 0;
    const run = () => called++;
    onAbort(controller.signal, run);
    onAbort(controller.signal, run)();
    controller.abort();
    expect(called).toBe(1);
  });

  it("adds one listener for any number of functions, and removes it with the last one", () => {
    const { signal } = new AbortController();
    const calls: string[] = [];
    signal.addEventListener = (type: string) => void calls.push(`added ${type}`);
    signal.removeEventListener = (type: string) => void calls.push(`removed ${type}`);
    const removes = Array.from({ length: 100 }, () => onAbort(signal, () => {}));
    for (const remove of removes) remove();
    expect(calls).toEqual(["added abort", "removed abort"]);
  });
});
