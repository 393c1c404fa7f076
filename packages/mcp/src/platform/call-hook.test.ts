import { describe, expect, it } from "vitest";
import { callHook } from "./call-hook.js";

const turns = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("calling a hook", () => {
  it("runs it at once and reports nothing when it succeeds", async () => {
    const seen: string[] = [];
    const warn = (message: string) => void seen.push(message);
    callHook(warn, "onRequest", () => void seen.push("ran"));
    callHook(warn, "onRequest", async () => 1);
    await turns();
    expect(seen).toEqual(["ran"]);
  });

  const broken = new Proxy(
    {},
    {
      get() {
        throw new Error("unreadable");
      },
      getPrototypeOf() {
        throw new Error("unreadable");
      },
    },
  );
  it.each([
    ["an error", new Error("disk full"), "disk full"],
    ["a text", "disk full", "disk full"],
    ["nothing", undefined, "undefined was thrown, which is not an error"],
    ["what cannot be read", broken, "an error that cannot be read"],
  ])("reports %s that it throws or rejects with, under its name", async (_what, thrown, said) => {
    const seen: string[] = [];
    const warn = (message: string) => void seen.push(message);
    callHook(warn, "onRequest", () => {
      throw thrown;
    });
    expect(seen).toEqual([`\`onRequest\` failed: ${said}`]);
    callHook(warn, "onLog", () => Promise.reject(thrown));
    await turns();
    expect(seen[1]).toBe(`\`onLog\` failed: ${said}`);
  });

  it("reports a promise of another making, and one whose `then` throws", async () => {
    const seen: string[] = [];
    // biome-ignore lint/suspicious/noThenProperty: the point of the test
    const foreign = { then: (_kept: unknown, failed: (error: unknown) => void) => failed("from afar") };
    const hostile = {
      // biome-ignore lint/suspicious/noThenProperty: the point of the test
      get then(): never {
        throw new Error("no then");
      },
    };
    for (const returned of [foreign, hostile])
      callHook(
        (message) => void seen.push(message),
        "watch",
        () => returned,
      );
    await turns();
    expect(seen.sort()).toEqual(["`watch` failed: from afar", "`watch` failed: no then"]);
  });

  it("survives a report that fails too", async () => {
    const warn = () => {
      throw new Error("stderr is closed");
    };
    callHook(warn, "onLog", () => {
      throw new Error("first");
    });
    callHook(warn, "onLog", () => Promise.reject(new Error("second")));
    await turns();
  });
});
