import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const sources = new URL("../../src/doctor/", import.meta.url);
const page = readFileSync(new URL("../../../../docs/cli-doctor.md", import.meta.url), "utf8");

it("every code that doctor can give is on its page", () => {
  const codes = readdirSync(sources).flatMap((name) => {
    const text = readFileSync(new URL(name, sources), "utf8");
    return [...text.matchAll(/(?:\bcode: |\bwarn\(\s*)"([a-z_]+)"/g)].map(([, code = ""]) => code);
  });
  expect(codes.length).toBeGreaterThan(40);
  expect([...new Set(codes)].filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});
