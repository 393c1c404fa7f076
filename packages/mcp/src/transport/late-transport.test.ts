import { describe, expect, it } from "vitest";
import { lateTransport } from "./late-transport.js";
import type { Receiver, Transport } from "./transport.js";

const receiver: Receiver = { request: async () => "", notification() {}, fault() {}, closed() {} };

/** A transport that notes what it is told. */
function recorder(): { calls: string[]; transport: Transport } {
  const calls: string[] = [];
  const transport: Transport = {
    kind: "channel",
    target: "there",
    open: () => void calls.push("open"),
    request: async ({ method }) => calls.push(method),
    notify: ({ method }) => void calls.push(method),
    abandon: (id) => void calls.push(`abandon ${id}`),
    close: async () => void calls.push("close"),
  };
  return { calls, transport };
}

describe("a transport that is made when it is opened", () => {
  it("passes on everything once it is open", async () => {
    const { calls, transport } = recorder();
    const late = lateTransport("there", async () => transport);
    await late.open(receiver);
    await late.request({ id: 1, method: "a", text: "" });
    await late.notify({ method: "b", text: "" });
    late.abandon(1, new Error("no more"));
    await late.close();
    expect(calls).toEqual(["open", "a", "b", "abandon 1", "close"]);
  });

  it("refuses messages before that, and gives up nothing", async () => {
    const late = lateTransport("there", async () => recorder().transport);
    await expect(late.request({ id: 1, method: "a", text: "" })).rejects.toMatchObject({ kind: "connection_closed" });
    expect(() => late.notify({ method: "b", text: "" })).toThrow("the transport is not open");
    late.abandon(1, new Error("no more"));
  });

  it.each(["before", "while"])("remembers a close that comes %s it is opened", async (when) => {
    const { calls, transport } = recorder();
    let aborted = false;
    const late = lateTransport("there", async (signal) => {
      signal.addEventListener("abort", () => {
        aborted = true;
      });
      await Promise.resolve();
      return transport;
    });
    if (when === "before") await late.close();
    const opening = late.open(receiver);
    if (when === "while") await late.close();
    await expect(opening).rejects.toMatchObject({ kind: "connection_closed" });
    expect(calls).toEqual(["close"]);
    expect(aborted).toBe(when === "while");
  });
});
