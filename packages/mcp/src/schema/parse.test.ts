import { toJsonSchema as valibotToJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod3";
import { SchemaError } from "./json-schema/schema-error.js";
import { compileParser, describeIssues } from "./parse.js";
import { toJsonSchema } from "./standard.js";

const what = 'tool "forecast" input';
const options = { io: "input", what } as const;

function refusal(act: () => unknown): SchemaError {
  try {
    act();
  } catch (error) {
    if (error instanceof SchemaError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("compileParser", () => {
  const libraries = {
    "zod 4": { schema: z.object({ city: z.string(), days: z.number().optional() }), adapter: undefined },
    "zod 3.25 with an adapter": {
      schema: z3.object({ city: z3.string(), days: z3.number().optional() }),
      adapter: () => ({
        type: "object",
        properties: { city: { type: "string" }, days: { type: "number" } },
        required: ["city"],
      }),
    },
    "valibot with an adapter": {
      schema: v.object({ city: v.string(), days: v.optional(v.number()) }),
      adapter: valibotToJsonSchema,
    },
    arktype: { schema: type({ city: "string", "days?": "number" }), adapter: undefined },
    "JSON Schema": {
      schema: {
        type: "object",
        properties: { city: { type: "string" }, days: { type: "number" } },
        required: ["city"],
      } as const,
      adapter: undefined,
    },
  };

  for (const [name, { schema, adapter }] of Object.entries(libraries)) {
    it(`takes ${name}, says its JSON Schema, and parses by it`, () => {
      const parser = compileParser(schema, { ...options, adapter });
      expect(parser.jsonSchema).toMatchObject({
        type: "object",
        properties: { city: { type: "string" }, days: { type: "number" } },
        required: ["city"],
      });
      expect(Object.isFrozen(parser.jsonSchema)).toBe(true);
      expect(parser.parse({ city: "Oslo", days: 2 })).toEqual({ ok: true, value: { city: "Oslo", days: 2 } });
      const refused = parser.parse({ city: 5 });
      expect(refused).toMatchObject({ ok: false, issues: [{ path: "/city" }] });
    });
  }

  it("stays synchronous unless the library validates asynchronously", async () => {
    const later = z.string().refine(async (text) => text !== "no");
    const parser = compileParser(z.object({ a: later }), options);
    await expect(parser.parse({ a: "yes" })).resolves.toEqual({ ok: true, value: { a: "yes" } });
    await expect(parser.parse({ a: "no" })).resolves.toMatchObject({ ok: false, issues: [{ path: "/a" }] });
  });

  it("gives the output of schemas that transform, and the JSON Schema of the side that is asked for", () => {
    const schema = z.object({ n: z.string().default("5") });
    expect(compileParser(schema, options).parse({})).toEqual({ ok: true, value: { n: "5" } });
    expect(toJsonSchema(schema, { io: "input", what })).not.toHaveProperty("required");
    expect(toJsonSchema(schema, { io: "output", what })).toMatchObject({ required: ["n"] });
  });

  it("names the adapter to pass when a library cannot say its JSON Schema", () => {
    const valibot = refusal(() => compileParser(v.object({}), options));
    expect(valibot.code).toBe("conversion_unavailable");
    expect(valibot.message).toContain('toJsonSchema from "@valibot/to-json-schema"');
    expect(valibot.message).toContain('tool "forecast" input');
    const zod3 = refusal(() => compileParser(z3.object({}), options));
    expect(zod3.message).toContain('zodToJsonSchema from "zod-to-json-schema"');
  });

  it("says what a library could not convert", () => {
    const error = refusal(() => compileParser(z.object({ at: z.date() }), options));
    expect(error.code).toBe("conversion_failed");
    expect(error.message).toMatch(/tool "forecast" input.*Date/);
  });

  it("refuses a malformed JSON Schema at once, naming the tool and the path", () => {
    const error = refusal(() =>
      compileParser({ type: "object", properties: { a: { minLength: "5" } } }, { io: "input", what }),
    );
    expect(error).toMatchObject({ code: "invalid_schema", path: "/properties/a/minLength" });
    expect(error.message).toContain('tool "forecast" input');
  });

  it("keeps what was registered, whatever is done to the schema object later", () => {
    const schema: { type: "object"; required: string[] } = { type: "object", required: ["a"] };
    const parser = compileParser(schema, options);
    schema.required.push("b");
    expect(parser.jsonSchema).toEqual({ type: "object", required: ["a"] });
    expect(parser.parse({ a: 1 })).toMatchObject({ ok: true });
  });
});

it("describeIssues puts issues on one line", () => {
  expect(
    describeIssues([
      { path: "/age", message: "must be at least 0" },
      { path: "", message: 'must have the property "name"' },
    ]),
  ).toBe('/age: must be at least 0; must have the property "name"');
});
