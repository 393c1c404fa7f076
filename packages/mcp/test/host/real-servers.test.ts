import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startHost } from "@parley/mcp/host";
import { serveHttp } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";
import { peerPath } from "../interop/peer-process.js";
import { peersInstalled } from "../mounts/peer-packages.js";

const run = promisify(execFile);

if (!peersInstalled) console.log("the peers are not installed (npm run peers); no server of the registry was hosted");

const published = (name: string, ...args: string[]) => ({
  command: process.execPath,
  args: [peerPath(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`), ...args],
});

describe.skipIf(!peersInstalled)("servers of the registry, hosted together", () => {
  it("are one catalogue, and one server for the official client in both eras", { timeout: 240_000 }, async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-real-")));
    writeFileSync(join(folder, "hello.txt"), "hello from a file");
    const memory = join(folder, "memory.json");
    const host = await startHost({
      servers: {
        everything: published("everything", "stdio"),
        filesystem: published("filesystem", folder),
        memory: { ...published("memory"), env: { MEMORY_FILE_PATH: memory } },
        thinking: published("sequential-thinking"),
      },
      startWaitMs: 120_000,
      forwardQuestions: true,
    });
    try {
      const states = Object.entries(host.status()).map(([name, { state }]) => `${name} ${state}`);
      expect(states).toEqual(["everything ready", "filesystem ready", "memory ready", "thinking ready"]);
      const names = host.tools().map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      for (const name of ["everything__echo", "filesystem__read_text_file", "memory__create_entities"]) {
        expect(names).toContain(name);
      }
      expect(await host.call("everything__echo", { message: "hi" })).toContain("hi");
      const read = await host.callTool("filesystem__read_text_file", { path: join(folder, "hello.txt") });
      expect(JSON.stringify(read)).toContain("hello from a file");
      const entities = [{ name: "Ada", entityType: "person", observations: ["writes"] }];
      await host.callTool("memory__create_entities", { entities });
      expect(readFileSync(memory, "utf8")).toContain("Ada");

      const gateway = await serveHttp(host.asServer(), { port: 0 });
      try {
        for (const mode of ["stateful", "stateless"]) {
          const task = JSON.stringify({ url: gateway.url, mode, file: join(folder, "hello.txt") });
          const { stdout } = await run(process.execPath, [peerPath("programs/gateway-official-v2-client.mjs"), task]);
          expect(JSON.parse(stdout)).toEqual({
            version: mode === "stateful" ? "2025-11-25" : "2026-07-28",
            tools: names.length,
            echo: expect.stringContaining("hi there"),
            file: expect.stringContaining("hello from a file"),
            graph: expect.stringContaining("Ada"),
            thought: expect.stringContaining("thoughtNumber"),
            progress: true,
            unknown: -32602,
          });
        }
      } finally {
        await gateway.close();
      }
    } finally {
      await host.close();
      rmSync(folder, { recursive: true });
    }
  });
});
