import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { builtPage } from "./kit/built-page.js";

const MOST_BYTES = 150_000;

it("the whole page has at most 150 KB, compressed", async () => {
  const folder = await builtPage();
  const names = readdirSync(folder).sort();
  expect(names).toEqual(["index.html", "inspector.css", "inspector.js"]);
  const sizes = names.map((name) => gzipSync(readFileSync(join(folder, name))).length);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`the page: ${all} bytes compressed (${names.map((name, at) => `${name} ${sizes[at]}`).join(", ")})`);
  expect(all).toBeLessThanOrEqual(MOST_BYTES);
});
