import { spawn } from "node:child_process";
import { once } from "node:events";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { bundleFixture } from "./bundle-fixture.js";
import { eventually } from "./processes.js";

let fixture = "";

beforeAll(async () => {
  fixture = await bundleFixture(new URL("./fixtures/session-object.ts", import.meta.url));
});

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
};

it.each([
  ["stdin ends", "left", 0],
  ["SIGTERM comes", "closed", 143],
])("the object of a session over stdio ends when %s (B15)", async (what, reason, code) => {
  const child = spawn(process.execPath, [fixture]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const exited = once(child, "close");
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  expect(await eventually(() => stderr.includes("begun"))).toBe(true);
  if (what === "SIGTERM comes") child.kill("SIGTERM");
  else child.stdin.end();
  expect(await exited).toEqual([code, null]);
  expect(stderr).toBe(`begun\nended: ${reason}\n`);
});
