import { beforeAll, describe, expect, it } from "vitest";
import { storageContract } from "../../src/storage/contract/storage-contract.js";
import { StorageFailure } from "../../src/storage/storage.js";
import { sqliteStorage } from "../../src/storage-sqlite.js";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import { FILE_CHECKS } from "./fixtures/file-checks.js";
import { NEWER_NODES, runNode } from "./newer-nodes.js";

interface Outcome {
  readonly name: string;
  readonly trouble?: string;
}

const NAMES = [...storageContract().flatMap(({ name }) => [name, `two handles: ${name}`]), ...Object.keys(FILE_CHECKS)];

describe.each(NEWER_NODES)("SQLite storage on $name", ({ binary, installed }) => {
  const outcomes = new Map<string, Outcome>();

  beforeAll(async () => {
    if (!installed) return;
    const program = await bundleFixture(new URL("./fixtures/report-checks.ts", import.meta.url));
    for (const line of await runNode(binary, [program])) {
      const outcome = JSON.parse(line) as Outcome;
      outcomes.set(outcome.name, outcome);
    }
  });

  it.skipIf(!installed).each(NAMES)("%s", (name) => {
    expect(outcomes.get(name), "the check ran").toBeDefined();
    expect(outcomes.get(name)?.trouble).toBeUndefined();
  });
});

describe("SQLite storage where there is none", () => {
  it("says which Node has it, when it is called and not when it is imported", () => {
    const [major = 0] = process.versions.node.split(".").map(Number);
    if (major >= 22) return;
    try {
      sqliteStorage({ file: "never-made.db" });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(StorageFailure);
      expect(error).toMatchObject({ reason: "unsupported", fix: expect.stringContaining("Node 22.13") });
      expect(String(error)).toContain(`which Node ${process.versions.node} does not have`);
    }
  });
});
