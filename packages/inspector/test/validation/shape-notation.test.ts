import { REVISIONS } from "@parley/mcp/protocol";
import { describe, expect, it } from "vitest";
import { definitionsOf, SchemaDefinitions } from "../../src/validation/schema-definitions.js";
import type { Shape } from "../../src/validation/shape.js";
import { parseShape } from "../../src/validation/shape-notation.js";
import { shapeInWords } from "../../src/validation/shape-words.js";

function namesIn(shape: Shape): string[] {
  switch (shape.kind) {
    case "named":
      return [shape.name];
    case "array":
      return namesIn(shape.items);
    case "union":
    case "both":
      return shape.parts.flatMap(namesIn);
    case "object":
      return [...shape.members.values(), ...(shape.others === undefined ? [] : [{ shape: shape.others }])].flatMap(
        (each) => namesIn(each.shape),
      );
    default:
      return [];
  }
}

describe("the notation of shapes", () => {
  it("reads objects, arrays, unions, limits and literals", () => {
    expect(parseShape('{ a: string; "b/c"?: (Name | -1.5)[3]; *: integer<0..> & unknown }')).toEqual({
      kind: "object",
      members: new Map([
        ["a", { shape: { kind: "simple", type: "string" }, optional: false }],
        [
          "b/c",
          {
            shape: {
              kind: "array",
              most: 3,
              items: {
                kind: "union",
                parts: [
                  { kind: "named", name: "Name" },
                  { kind: "literal", value: -1.5 },
                ],
              },
            },
            optional: true,
          },
        ],
      ]),
      others: { kind: "both", parts: [{ kind: "simple", type: "integer", least: 0 }, { kind: "unknown" }] },
    });
  });

  it.each([
    "",
    "{",
    "{ a }",
    "a b",
    "string[",
    "number<1>",
    "(string",
    "|",
    "a | ",
    "{ a: string }}",
    "#",
    "string[] ]",
  ])("refuses %j", (text) => expect(() => parseShape(text)).toThrow(SyntaxError));

  it.each([
    ["number<0..1>", "a number from 0 to 1"],
    ["integer<..9>", "an integer of at most 9"],
    ["string | integer | null", "a string, an integer or null"],
    ['"a" | "b"', '"a" or "b"'],
    ["object | { a: string } | string[]", "an object or an array"],
    ["Named", "a URI or a boolean"],
  ])("says of %s that it demands %s", (text, words) => {
    const definitions = new SchemaDefinitions(new Map([["Named", "uri | boolean"]]));
    expect(shapeInWords(definitions, parseShape(text))).toBe(words);
  });

  it.each(REVISIONS)("has no name in %s that is not defined there", (revision) => {
    const definitions = definitionsOf(revision);
    const used = [...definitions.names()].flatMap((name) => namesIn(definitions.shape(name)));
    expect(used.filter((name) => !definitions.has(name))).toEqual([]);
    expect(used.length).toBeGreaterThan(90);
  });
});
