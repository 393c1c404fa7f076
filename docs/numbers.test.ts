import { describe, expect, it } from "vitest";
import { generatedFiles } from "../benchmarks/report/files.js";

describe("the figures in the documents", () => {
  it("are those of the result files; `npm run bench:report` renews them", () => {
    const files = generatedFiles();
    expect(files.length).toBeGreaterThan(0);
    for (const { path, found, wanted } of files) expect(found, path).toBe(wanted);
  });
});
