import { describe, expect, it } from "vitest";
import type { Session } from "../../../../era/session.js";
import { mergeSessions } from "./records.js";

const base: Session = {
  revision: "2025-11-25",
  clientCapabilities: {},
  initialized: false,
  subscriptions: ["a", "b"],
};

describe("two changes of one session on two nodes", () => {
  it("both count", () => {
    const mine: Session = { ...base, initialized: true, subscriptions: ["a", "b", "c"] };
    const theirs: Session = { ...base, logLevel: "error", subscriptions: ["b", "d"] };
    expect(mergeSessions(base, mine, theirs)).toEqual({
      ...base,
      initialized: true,
      logLevel: "error",
      subscriptions: ["b", "d", "c"],
    });
  });

  it("of which one did nothing are the other", () => {
    const changed: Session = { ...base, initialized: true, logLevel: "info", subscriptions: [] };
    expect(mergeSessions(base, changed, base)).toEqual(changed);
    expect(mergeSessions(base, base, changed)).toEqual(changed);
  });
});
