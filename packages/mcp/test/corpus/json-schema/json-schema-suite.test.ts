import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, sep } from "node:path";
import { describe, expect, it } from "vitest";
import { standardFormats } from "../../../src/schema/json-schema/formats.js";
import { compileValidator } from "../../../src/schema/json-schema/validate.js";
import { jsonSchemaSuite } from "./suite-folder.js";

interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

const require = createRequire(import.meta.url);

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The documents that the suite expects to be served, and the meta-schemas, which ajv carries. */
function documents(remotes: string): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const file of filesUnder(remotes)) {
    found[`http://localhost:1234/${relative(remotes, file).split(sep).join("/")}`] = readJson(file);
  }
  const base = "https://json-schema.org/draft/2020-12/";
  found[`${base}schema`] = require("ajv/dist/refs/json-schema-2020-12/schema.json");
  const parts = ["applicator", "content", "core", "format-annotation", "meta-data", "unevaluated", "validation"];
  for (const part of parts) {
    found[`${base}meta/${part}`] = require(`ajv/dist/refs/json-schema-2020-12/meta/${part}.json`);
  }
  found["http://json-schema.org/draft-07/schema"] = require("ajv/dist/refs/json-schema-draft-07.json");
  return found;
}

function declare(schema: unknown, draft: string): unknown {
  if (draft !== "draft7" || typeof schema !== "object" || schema === null || "$schema" in schema) return schema;
  return { $schema: "http://json-schema.org/draft-07/schema#", ...schema };
}

const suite = jsonSchemaSuite();

describe.runIf(suite !== undefined)("The JSON Schema test suite", () => {
  const { tests = "", remotes = "" } = suite ?? {};

  it.each([
    ["draft2020-12", 1_200],
    ["draft7", 900],
  ])("passes every required case of %s but those of custom dialects (BASE-36)", (draft, atLeast) => {
    const schemas = documents(remotes);
    const failures: string[] = [];
    let cases = 0;
    for (const file of readdirSync(join(tests, draft)).filter((name) => name.endsWith(".json"))) {
      // Dialects of one's own are refused: what a schema means must not depend on a document that is never fetched.
      if (file === "vocabulary.json") continue;
      for (const group of readJson(join(tests, draft, file)) as Group[]) {
        let validate: (data: unknown) => boolean;
        try {
          const validator = compileValidator(declare(group.schema, draft), { schemas });
          validate = (data) => validator.validate(data).valid;
        } catch (error) {
          validate = () => {
            throw error;
          };
        }
        for (const test of group.tests) {
          cases++;
          const name = `${file}: ${group.description}: ${test.description}`;
          try {
            if (validate(test.data) !== test.valid) failures.push(name);
          } catch (error) {
            failures.push(`${name}: ${error}`);
          }
        }
      }
    }
    console.log(`JSON Schema test suite ${draft}: ${cases - failures.length} of ${cases} required cases pass`);
    expect(failures).toEqual([]);
    expect(cases).toBeGreaterThan(atLeast);
  });

  it("passes the cases of formats, but for host names in Punycode, which are not decoded", () => {
    const failures: string[] = [];
    let count = 0;
    for (const format of Object.keys(standardFormats)) {
      for (const group of readJson(join(tests, "draft2020-12/optional/format", `${format}.json`)) as Group[]) {
        const validator = compileValidator(group.schema, { formats: standardFormats });
        for (const { data, valid, description } of group.tests) {
          if (format === "hostname" && /xn--/i.test(String(data))) continue;
          count++;
          if (validator.validate(data).valid !== valid) failures.push(`${format}: ${description}`);
        }
      }
    }
    console.log(`JSON Schema test suite: ${count - failures.length} of ${count} format cases pass`);
    expect(failures).toEqual([]);
  });
});

if (suite === undefined) {
  it("JSON_SCHEMA_TEST_SUITE names a clone of the suite, or its cases are not run", (test) => {
    test.skip("no JSON Schema test suite was found");
  });
}
