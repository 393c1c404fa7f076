import { afterAll, describe, expect, it } from "vitest";
import { SchemaError } from "./schema-error.js";
import { compileValidator } from "./validate.js";

/** 2^levels applications of one leaf, written in a few hundred bytes. */
function fanOut(levels: number, combine: (ref: object) => object, leaf: object): object {
  const $defs: Record<string, object> = { [`n${levels}`]: leaf };
  for (let i = 0; i < levels; i++) $defs[`n${i}`] = combine({ $ref: `#/$defs/n${i + 1}` });
  return { $ref: "#/$defs/n0", $defs };
}

describe("Schemas that multiply are limited by steps (BASE-42)", () => {
  it("2^20 references say «too complex», and which limit", () => {
    const validator = compileValidator(fanOut(20, (ref) => ({ allOf: [ref, ref] }), { type: "string" }));
    expect(() => validator.validate("x")).toThrow(/^Schema too complex: .*500000 steps/);
  });

  it("a raised limit lets them pass", () => {
    const schema = fanOut(12, (ref) => ({ allOf: [ref, ref] }), { type: "string" });
    expect(() => compileValidator(schema, { limits: { steps: 1_000 } }).validate("x")).toThrow(SchemaError);
    expect(compileValidator(schema, { limits: { steps: 100_000 } }).validate("x").valid).toBe(true);
  });
});

describe("No network", () => {
  const original = globalThis.fetch;
  let fetched = 0;
  globalThis.fetch = () => {
    fetched++;
    return Promise.reject(new Error("no network here"));
  };
  afterAll(() => {
    globalThis.fetch = original;
  });

  it("a $ref, $id, $schema or $dynamicRef to an address is never fetched (BASE-39)", () => {
    const address = "http://127.0.0.1:9/x";
    for (const schema of [{ $ref: address }, { $id: address }, { $schema: address }, { $dynamicRef: `${address}#n` }]) {
      try {
        compileValidator(schema).validate({});
      } catch (error) {
        if (!(error instanceof SchemaError)) throw error;
      }
    }
    expect(fetched).toBe(0);
  });
});
