import { describe, expect, it } from "vitest";
import {
  checkCreateMessageResult,
  checkElicitResult,
  checkInputRequiredResult,
  checkListRootsResult,
} from "./check-answers.js";

const form = {
  method: "elicitation/create",
  params: { message: "?", requestedSchema: { type: "object", properties: {} } },
};

describe("checkElicitResult", () => {
  it("accepts the three actions and the four kinds of answers", () => {
    for (const action of ["accept", "decline", "cancel"]) {
      expect(checkElicitResult({ action })).toEqual({ result: { action }, problems: [] });
    }
    const content = { a: "", b: 0, c: false, d: ["x"] };
    expect(checkElicitResult({ action: "accept", content }).problems).toEqual([]);
  });

  it("refuses other actions and complains about nested answers", () => {
    for (const value of [{}, { action: "yes" }, null, { content: {} }]) {
      expect(checkElicitResult(value).result).toBeUndefined();
    }
    for (const content of [{ a: {} }, { a: null }, { a: [1] }, [], "x"]) {
      expect(checkElicitResult({ action: "accept", content }).problems).toHaveLength(1);
    }
  });
});

describe("checkCreateMessageResult", () => {
  it("accepts one block or a list of them", () => {
    const block = { type: "text", text: "Paris" };
    for (const content of [block, [block]]) {
      expect(checkCreateMessageResult({ role: "assistant", model: "m", content }).problems).toEqual([]);
    }
    for (const content of ["Paris", [{ type: "text" }], undefined]) {
      expect(checkCreateMessageResult({ role: "assistant", model: "m", content }).result).toBeUndefined();
    }
  });
});

describe("checkListRootsResult", () => {
  it("leaves out roots without an address", () => {
    expect(checkListRootsResult({ roots: [{ uri: "file:///a", name: null }, { name: "b" }] })).toEqual({
      result: { roots: [{ uri: "file:///a" }] },
      problems: ["roots[0].name is not a string; ignored", "roots[1] has no uri"],
    });
  });
});

describe("checkInputRequiredResult", () => {
  it("accepts questions, a state, or both, but not neither", () => {
    const resultType = "input_required";
    const good = [
      { resultType, requestState: "" },
      { resultType, inputRequests: { a: form, b: { method: "roots/list" } } },
      { resultType, inputRequests: {}, requestState: "s" },
    ];
    for (const value of good) expect(checkInputRequiredResult(value)).toEqual({ result: value, problems: [] });
    expect(checkInputRequiredResult({ resultType }).result).toBeUndefined();
  });

  it("is unusable as a whole when one question is", () => {
    const bad = [
      { method: "tools/call", params: {} },
      { method: "constructor", params: {} },
      { method: "elicitation/create" },
      { method: "elicitation/create", params: { message: 1 } },
      { method: "sampling/createMessage", params: {} },
      { method: "roots/list", params: [] },
      null,
    ];
    for (const question of bad) {
      const value = { resultType: "input_required", inputRequests: { good: form, bad: question } };
      const { result, problems } = checkInputRequiredResult(value);
      expect(result).toBeUndefined();
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain('inputRequests["bad"]');
    }
  });
});
