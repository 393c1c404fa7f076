import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { compileValidator } from "./validate.js";

interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

const suite = fileURLToPath(new URL("../../../../../../shared/corpora/json-schema", import.meta.url));
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
function documents(): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  const remotes = join(suite, "remotes");
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

const present = existsSync(suite);

describe("The JSON Schema test suite", () => {
  const schemas = present ? documents() : {};
  for (const draft of present ? ["draft2020-12", "draft7"] : []) {
    it(`passes every required case of ${draft} (BASE-36)`, () => {
      const failures: string[] = [];
      let cases = 0;
      for (const file of readdirSync(join(suite, draft)).filter((name) => name.endsWith(".json"))) {
        for (const group of readJson(join(suite, draft, file)) as Group[]) {
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
      expect(cases).toBeGreaterThan(900);
    });
  }

  it("is read where it is present", () => {
    if (!present) console.log("../shared/corpora/json-schema is absent: the JSON Schema test suite was not run");
  });
});
