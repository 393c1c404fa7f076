import { describe, expect, it } from "vitest";
import { checkSampling } from "./answerer.js";

const use = (id: string) => ({ role: "assistant", content: { type: "tool_use", id, name: "t", input: {} } });
const uses = (...ids: string[]) => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "tool_use", id, name: "t", input: {} })),
});
const results = (...ids: string[]) => ({
  role: "user",
  content: ids.map((toolUseId) => ({ type: "tool_result", toolUseId, content: [] })),
});
const text = (role: string, words = "hi") => ({ role, content: { type: "text", text: words } });
const check = (messages: unknown[], more: object = {}) => checkSampling({ messages, maxTokens: 5, ...more }, true);

describe("sampling requests that a client must refuse", () => {
  it("SAMP-09: balanced uses and results pass", () => {
    check([]);
    check([text("user"), use("a"), results("a"), text("assistant")]);
    check([uses("a", "b"), results("b", "a"), use("c"), results("c")]);
  });

  const wrong: Record<string, unknown[]> = {
    "SAMP-08: results beside other content": [
      use("a"),
      {
        role: "user",
        content: [
          { type: "tool_result", toolUseId: "a", content: [] },
          { type: "text", text: "x" },
        ],
      },
    ],
    "SAMP-09: a use without a result": [use("a")],
    "SAMP-09: a result too late": [use("a"), text("user"), results("a")],
    "SAMP-09: one of two results": [uses("a", "b"), results("a")],
    "SAMP-09: a result for nothing": [text("user"), results("a")],
    "SAMP-09: the same result twice": [use("a"), results("a", "a")],
  };
  for (const [name, messages] of Object.entries(wrong)) {
    it(name, () =>
      expect(() => check(messages)).toThrow(expect.objectContaining({ kind: "invalid_params", code: -32602 })),
    );
  }

  it("SAMP-04: maxTokens and messages are required", () => {
    expect(() => checkSampling({ messages: [] }, true)).toThrow(/maxTokens/);
    expect(() => checkSampling({ maxTokens: 1 }, true)).toThrow(/messages/);
  });

  it("SAMP-02: tools need the capability", () => {
    expect(() => checkSampling({ messages: [], maxTokens: 1, tools: [] }, false)).toThrow(/sampling.tools/);
    expect(() => checkSampling({ messages: [], maxTokens: 1, toolChoice: {} }, false)).toThrow(/sampling.tools/);
  });
});
