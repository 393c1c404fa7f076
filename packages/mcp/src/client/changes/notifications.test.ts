import { describe, expect, it } from "vitest";
import { CORE_METHODS, CORE_TABLE } from "../../protocol/methods.js";
import { NotificationRouter } from "./notifications.js";

function setUp() {
  const warnings: string[] = [];
  return { router: new NotificationRouter(CORE_TABLE, (message) => warnings.push(message)), warnings };
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
