import { hostConfigSchema, loadConfig, readServers } from "@parley/mcp/config";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";

describe("the schema for editors", () => {
  const check = new Ajv2020().compile(hostConfigSchema());

  it("accepts what the reader accepts, and refuses what the reader reports", () => {
    const entries: unknown[] = [
      { command: "c" },
      { command: "c", args: ["a"], env: { A: "b" }, inheritEnv: true, cwd: "/", transport: "stdio", prefix: false },
      { url: "http://x", headers: {}, transport: "sse", trust: "trusted", tools: { allow: [], deny: ["a"] } },
      { url: "http://x", startMs: 1, callMs: 2, perSecond: 0.5, burst: 1, queue: 1, concurrency: 1, connections: 1 },
      {},
      { command: 1 },
      { command: "c", args: "x" },
      { command: "c", startMs: 1.5 },
      { command: "c", perSecond: 0 },
      { command: "c", prefix: true },
      { command: "c", isolation: "none" },
      { command: "c", commnad: "c" },
      { command: "c", tools: { allowed: [] } },
    ];
    for (const entry of entries) {
      const { problems } = readServers({ servers: { a: entry } }, { env: {}, dialect: "parley" });
      expect(check({ servers: { a: entry } }), JSON.stringify(entry)).toBe(problems.length === 0);
    }
  });

  it("knows the settings that loadConfig knows", () => {
    const configs: unknown[] = [
      {},
      { $schema: "x", http: { port: 0, healthPath: false, cors: { origins: "*" } }, server: { secret: ["a"] } },
      { client: { headers: { A: "b" }, resend: "never" }, stdio: { exit: true }, servers: {} },
      { http: { prot: 1 } },
      { http: { port: -1 } },
      { server: { pageSize: 0 } },
      { server: { declare: "tools" } },
      { client: { resend: "sometimes" } },
      { client: { timeouts: { idle: 1 } } },
      { sever: {} },
      { http: 5 },
    ];
    for (const content of configs) {
      const loads = () => loadConfig({ file: { path: "x.json", content } });
      if (check(content)) expect(loads, JSON.stringify(content)).not.toThrow();
      else expect(loads, JSON.stringify(content)).toThrow("the configuration is invalid");
    }
    expect(configs.filter((content) => check(content))).toHaveLength(3);
  });
});
