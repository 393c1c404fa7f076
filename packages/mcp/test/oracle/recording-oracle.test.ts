import { describe, expect, it } from "vitest";
import { recordingOracle } from "./recording-oracle.js";

const jsonrpc = "2.0";
const clientInfo = { name: "c", version: "1" };
const serverInfo = { name: "s", version: "1" };

describe("recordingOracle", () => {
  it("follows a stateful connection from its handshake on", async () => {
    const recorder = await recordingOracle({ revision: "2025-11-25" });
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    recorder.record("client", { jsonrpc, id: 0, method: "initialize", params });
    recorder.record("server", {
      jsonrpc,
      id: 0,
      result: { protocolVersion: "2025-03-26", capabilities: {}, serverInfo },
    });
    recorder.record("client", { jsonrpc, method: "notifications/initialized" });
    recorder.record("client", [{ jsonrpc, id: 1, method: "ping" }]);
    recorder.record("server", { jsonrpc, id: 1, result: {} });
    recorder.assertValid();
    expect(recorder.count).toBe(5);
  });

  it("reads the revision of a stateless request off the request, also from text", async () => {
    const recorder = await recordingOracle({ revision: "2025-11-25" });
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    recorder.record("client", JSON.stringify({ jsonrpc, id: "a", method: "tools/list", params: { _meta } }));
    const result = { resultType: "complete", tools: [], ttlMs: 0, cacheScope: "private" };
    recorder.record("server", JSON.stringify({ jsonrpc, id: "a", result }));
    recorder.assertValid();
  });

  it("tells ids of different type and of different askers apart", async () => {
    const recorder = await recordingOracle({ revision: "2025-11-25" });
    recorder.record("client", { jsonrpc, id: 1, method: "tools/list" });
    recorder.record("client", { jsonrpc, id: "1", method: "ping" });
    recorder.record("server", { jsonrpc, id: 1, method: "roots/list" });
    recorder.record("server", { jsonrpc, id: "1", result: {} });
    recorder.record("client", { jsonrpc, id: 1, result: { roots: [] } });
    recorder.record("server", { jsonrpc, id: 1, result: { tools: [] } });
    recorder.assertValid();
  });

  it("complains about an id in flight twice, an answer that nobody asked for, broken text and silence", async () => {
    const recorder = await recordingOracle({ revision: "2025-11-25" });
    expect(() => recorder.assertValid()).toThrow("heard no message");
    recorder.record("client", { jsonrpc, id: 1, method: "ping" });
    recorder.record("client", { jsonrpc, id: 1, method: "ping" });
    recorder.record("server", { jsonrpc, id: 2, result: {} });
    recorder.record("server", "{");
    expect(recorder.problems()).toHaveLength(3);
    expect(() => recorder.assertValid()).toThrow("3 problems in 4 messages");
  });
});
