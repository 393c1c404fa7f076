import { describe, expect, it } from "vitest";
import { CORE_METHODS, CORE_TABLE } from "../../protocol/methods.js";
import { NotificationRouter, publishedName } from "./notifications.js";

function setUp() {
  const warnings: string[] = [];
  const clock = { now: 0 };
  const router = new NotificationRouter(
    CORE_TABLE,
    (message) => warnings.push(message),
    () => clock.now,
  );
  return { router, warnings, clock };
}

const SOUND = { progress: 1, progressToken: 1, level: "info", uri: "u", elicitationId: "e", notifications: {} };

describe("the router of notifications", () => {
  for (const { method } of CORE_METHODS.filter(({ kind }) => kind === "notification")) {
    it(`routes ${method} to its listeners and to nobody else`, () => {
      const { router } = setUp();
      const heard: unknown[] = [];
      router.on(method, (params) => heard.push(params));
      router.on("unknown", () => heard.push("unknown"));
      router.route({ jsonrpc: "2.0", method, params: SOUND });
      expect(heard).toEqual([SOUND]);
    });
  }

  it("routes everything else to `unknown`, whole", () => {
    const { router } = setUp();
    const heard: unknown[] = [];
    router.on("unknown", (message) => heard.push(message));
    const odd = { jsonrpc: "2.0" as const, method: "notifications/odd", params: { a: 1 } };
    const named = { jsonrpc: "2.0" as const, method: "tools/list" };
    router.route(odd);
    router.route(named);
    expect(heard).toEqual([odd, named]);
  });

  it("calls listeners of a method that no extension defines, beside those of `unknown`", () => {
    const { router } = setUp();
    const received: unknown[] = [];
    router.on("notifications/acme/x", (params) => received.push(params));
    router.on("unknown", ({ method }: { method: string }) => received.push(method));
    router.route({ jsonrpc: "2.0", method: "notifications/acme/x", params: { a: 1 } });
    router.route({ jsonrpc: "2.0", method: "notifications/acme/y" });
    expect(received).toEqual([{ a: 1 }, "notifications/acme/x", "notifications/acme/y"]);
  });

  it.each(["state", "session.recovered", "session.mode", "fault", "notification", "unknown"])(
    "lets no server emit the event %s by a notification of that name",
    (event) => {
      const { router } = setUp();
      const received: unknown[] = [];
      const message = { jsonrpc: "2.0" as const, method: event, params: { forged: true } };
      router.on(event, (value) => received.push(value));
      router.route(message);
      // As with every unknown notification, the two events that carry the whole message have it.
      expect(received).toEqual(event === "notification" || event === "unknown" ? [message] : []);
    },
  );

  it("warns once of a listener that keeps the event loop busy", () => {
    const { router, warnings, clock } = setUp();
    const takes = (ms: number) => () => {
      clock.now += ms;
    };
    router.on("notifications/acme/x", takes(50));
    router.on("notifications/acme/x", takes(51));
    for (let n = 0; n < 3; n++) router.route({ jsonrpc: "2.0", method: "notifications/acme/x" });
    expect(warnings).toEqual([
      expect.stringMatching(/on\("notifications\/acme\/x"\) ran for 51 ms.*notifications\(\)/),
    ]);
  });

  it.each([
    ["resources/updated", "notifications/resources/updated"],
    ["tools/list_changed", "notifications/tools/list_changed"],
    ["prompts/listChanged", "notifications/prompts/list_changed"],
    ["notifications/resources/listChanged", "notifications/resources/list_changed"],
    ["progress", "notifications/progress"],
    ["message", "notifications/message"],
    ["tools/list", "tools/list"],
    ["initialized", "initialized"],
    ["acme/updated", "acme/updated"],
    ["notifications/acme/listChanged", "notifications/acme/listChanged"],
  ])("takes %s for %s", (sent, meant) => {
    expect(publishedName(CORE_TABLE, sent)).toBe(meant);
  });

  it("drops what lacks the member that listeners rely on, with a warning", () => {
    const { router, warnings } = setUp();
    const heard: unknown[] = [];
    router.on("notifications/resources/updated", (params) => heard.push(params));
    router.route({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: 7 } });
    router.route({ jsonrpc: "2.0", method: "notifications/resources/updated" });
    expect(heard).toEqual([]);
    expect(warnings).toHaveLength(2);
  });

  it("tells all listeners in order, also when one throws, and stops when asked to", () => {
    const { router, warnings } = setUp();
    const heard: string[] = [];
    const listener = () => heard.push("same");
    router.on("state", () => {
      throw new Error("broken");
    });
    const first = router.on("state", listener);
    const second = router.on("state", listener);
    router.emit("state", { state: "ready", reason: undefined });
    first();
    router.emit("state", { state: "ready", reason: undefined });
    second[Symbol.dispose]();
    router.emit("state", { state: "ready", reason: undefined });
    expect(heard).toEqual(["same", "same", "same"]);
    expect(warnings).toHaveLength(3);
  });
});
