import { describe, expect, it } from "vitest";
import { MethodTable } from "../protocol/methods.js";
import { statefulClient } from "./stateful/client.js";
import { statelessClient } from "./stateless/client.js";

const self = { info: { name: "c", version: "1" }, capabilities: {}, headers: false };
const foreign = {
  "io.modelcontextprotocol/protocolVersion": "2099-01-01",
  "io.modelcontextprotocol/clientInfo": { name: "other", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { sampling: {} },
  "io.modelcontextprotocol/logLevel": "debug",
  progressToken: "theirs",
  "a.test/b": 1,
};
const eras = [
  ["2026-07-28", statelessClient("2026-07-28", self, new MethodTable())],
  ["2025-11-25", statefulClient("2025-11-25", self, new MethodTable())],
] as const;

describe.each(eras)("what a caller adds to _meta in %s", (revision, era) => {
  const metaOf = (call: object) => {
    const { text } = era.encode(1, { method: "tools/call", params: { name: "t" }, ...call });
    // Nothing is written twice, which a parser would not notice.
    for (const key of Object.keys(foreign)) expect(text.split(`"${key}":`).length).toBeLessThanOrEqual(2);
    return JSON.parse(text).params._meta as Record<string, unknown>;
  };

  it("never overrides the members of the protocol, nor writes them twice (BASE-29)", () => {
    for (const call of [{ meta: foreign }, { meta: {}, params: { name: "t", _meta: foreign } }]) {
      const meta = metaOf({ ...call, progressToken: "ours" });
      expect(meta).toMatchObject({ "a.test/b": 1, progressToken: "ours" });
      expect(JSON.stringify(meta)).not.toMatch(/2099|other|sampling|debug|theirs/);
      expect(meta["io.modelcontextprotocol/protocolVersion"]).toBe(revision === "2026-07-28" ? revision : undefined);
      expect(metaOf(call)).not.toHaveProperty("progressToken");
    }
  });
});
