import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface SuiteFolders {
  /** One folder for each draft. */
  tests: string;
  /** Documents that the cases refer to by address. */
  remotes: string;
}

/**
 * Where the JSON Schema test suite is: a clone of json-schema-org/JSON-Schema-Test-Suite that JSON_SCHEMA_TEST_SUITE names,
 * or a copy of its cases beside this repository. The package `@json-schema-org/tests` would not do: it holds no cases, only
 * a dependency on a commit of 2019, before draft 2020-12.
 */
export function jsonSchemaSuite(): SuiteFolders | undefined {
  const beside = fileURLToPath(new URL("../../../../../../shared/corpora/json-schema", import.meta.url));
  const named = process.env.JSON_SCHEMA_TEST_SUITE;
  if (named !== undefined && !existsSync(named)) throw new Error(`JSON_SCHEMA_TEST_SUITE names no folder: ${named}`);
  const folder = [named, beside].find((path) => path !== undefined && existsSync(path));
  if (folder === undefined) return undefined;
  const tests = existsSync(join(folder, "tests")) ? join(folder, "tests") : folder;
  return { tests, remotes: join(folder, "remotes") };
}
