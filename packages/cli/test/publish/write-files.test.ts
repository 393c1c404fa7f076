import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeFiles } from "../../src/publish/write-files.js";
import { PublishFolder } from "./publish-folder.js";

it("puts back the previous files if one cannot be moved to its place", () => {
  using folder = new PublishFolder({}, { one: "old one", two: "old two" });
  const before = folder.snapshot();
  const at = (name: string) => join(folder.path, name);
  const files = [
    { path: at("one"), content: "new one" },
    { path: at("made/new"), content: "new" },
    { path: at("two"), content: "new two" },
    {
      path: at("three"),
      // Another program deletes the draft of the second file before the files are moved.
      get content() {
        const draft = readdirSync(folder.path).find((name) => /^two\..*\.new$/.test(name)) ?? "";
        rmSync(at(draft));
        return "new three";
      },
    },
  ];
  expect(() => writeFiles(files)).toThrow(/two cannot be written: ENOENT/);
  expect(folder.snapshot()).toEqual(before);
  expect(readdirSync(folder.path).sort()).toEqual(["LICENSE", "one", "package.json", "stdio.mjs", "two"]);
});

it("writes all files, and leaves nothing else", () => {
  using folder = new PublishFolder({}, { one: "old one" });
  writeFiles([
    { path: join(folder.path, "one"), content: "new one" },
    { path: join(folder.path, "a/b/two"), content: Buffer.from([1, 2]) },
  ]);
  expect(folder.read("one")).toBe("new one");
  expect(readFileSync(join(folder.path, "a/b/two"))).toEqual(Buffer.from([1, 2]));
  expect(Object.keys(folder.snapshot())).toEqual(["LICENSE", "a/b/two", "one", "package.json", "stdio.mjs"]);
});
