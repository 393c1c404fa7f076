import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { LIBRARY_VERSION } from "./implementation.js";

it("names the version of the package", () => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(manifest).toMatchObject({ version: LIBRARY_VERSION });
});
