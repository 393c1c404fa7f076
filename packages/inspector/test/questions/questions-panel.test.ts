import { describe, expect, it } from "vitest";
import { dismissQuestions, isDismissed } from "../../page/questions/questions-panel.js";
import type { CallInfo } from "../../src/contract/calls.js";
import type { QuestionInfo } from "../../src/contract/questions.js";

const asked = (connection: string, askedMs: number, call?: string): QuestionInfo => ({
  id: `${connection} ${askedMs}`,
  connection,
  askedMs,
  call,
  question: { kind: "url", params: { mode: "url", message: "", url: "https://example.com", elicitationId: "1" } },
});

const started = (id: string, startedMs: number): CallInfo => ({
  id,
  connection: "c1",
  kind: "tool",
  name: "ask",
  status: "running",
  startedMs,
});

describe("questions that were put aside", () => {
  const calls = [started("before", 50), started("after", 150)];
  const aside = dismissQuestions([asked("c1", 100, "before"), asked("c1", 80)]);

  it("stay aside, and so does what the server asks again", () => {
    expect(isDismissed(asked("c1", 100, "before"), aside, calls)).toBe(true);
    expect(isDismissed(asked("c1", 120, "before"), aside, calls)).toBe(true);
    expect(isDismissed(asked("c1", 120), aside, calls)).toBe(true);
  });

  it("leave room for questions of other servers, and of calls that were started since", () => {
    expect(isDismissed(asked("c2", 120), aside, calls)).toBe(false);
    expect(isDismissed(asked("c1", 160, "after"), aside, calls)).toBe(false);
  });
});
