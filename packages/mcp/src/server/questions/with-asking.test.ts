import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ServerCall } from "../call/server-call.js";

/** As in a process that has asked nothing yet. */
async function fresh() {
  vi.resetModules();
  return import("./with-asking.js");
}

/** As much of a call as the questions that wait look at. */
function callThatEnds() {
  const acts: (() => void)[] = [];
  const call = { whenAnswered: (act: () => void) => void acts.push(act) };
  return { call: { ...call, root: call } as unknown as ServerCall, end: () => acts.forEach((act) => void act()) };
}

let asking: Awaited<ReturnType<typeof fresh>>;
beforeEach(async () => {
  asking = await fresh();
});

describe("the first question of a process", () => {
  it("waits for its code, and so do those after it, in order", async () => {
    const order: number[] = [];
    const ask = (at: number) => asking.withAsking(async () => order.push(at));
    const all = [ask(1), ask(2), ask(3)];
    expect(order).toEqual([]);
    await Promise.all(all);
    await ask(4);
    expect(order).toEqual([1, 2, 3, 4]);
  });

  it("is not asked any more when its call has ended meanwhile", async () => {
    const { call, end } = callThatEnds();
    const use = vi.fn(async () => "asked");
    const question = asking.askWith(call, use);
    end();
    await expect(question).rejects.toMatchObject({ kind: "cancelled" });
    expect(use).not.toHaveBeenCalled();
  });

  it("is asked when its call goes on", async () => {
    const { call } = callThatEnds();
    expect(await asking.askWith(call, async ({ elicit }) => typeof elicit)).toBe("function");
  });
});

describe("every later question", () => {
  it("is asked at once", async () => {
    await asking.loadAsking();
    const order: string[] = [];
    const question = asking.askWith(callThatEnds().call, async () => order.push("asked"));
    order.push("after");
    await question;
    expect(order).toEqual(["asked", "after"]);
  });
});
