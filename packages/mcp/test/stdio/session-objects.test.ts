import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bundleFixture } from "./bundle-fixture.js";
import { eventually } from "./processes.js";

let fixture = "";

beforeAll(async () => {
  fixture = await bundleFixture(new URL("./fixtures/session-object.ts", import.meta.url));
});

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
});

const INITIALIZED = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
const CALL = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "in_x", arguments: {} } });

/** The fixture, once its object has begun. */
async function begun(...words: string[]) {
  const child = spawn(process.execPath, [fixture, ...words]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "close");
  const printed = { stderr: "" };
  child.stderr.on("data", (chunk: Buffer) => {
    printed.stderr += chunk.toString();
  });
  await open(child, words, printed);
  expect(await eventually(() => printed.stderr.includes("begun"))).toBe(true);
  return { child, exited, printed };
}

async function open(child: ChildProcessWithoutNullStreams, words: string[], printed: { stderr: string }) {
  // The object of a mounted server begins with the first call.
  const more = words[2] === "mounted" ? `${INITIALIZED}\n${CALL}\n` : "";
  if (words[1] !== "http") return void child.stdin.write(`${INITIALIZE}\n${more}`);
  expect(await eventually(() => printed.stderr.endsWith("/mcp\n"))).toBe(true);
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  await (await fetch(printed.stderr.trim(), { method: "POST", headers, body: INITIALIZE })).text();
  printed.stderr = printed.stderr.replace(/^http.*\n/, "");
}

describe.each([
  ["each session", "each"],
  ["all sessions", "all"],
])("the handler object of %s (B15)", (_whose, objects) => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("ends over stdio when %s comes", async (signal, code) => {
    const { child, exited, printed } = await begun(objects, "stdio");
    child.kill(signal);
    expect(await exited).toEqual([code, null]);
    expect(printed.stderr).toBe("begun\nended: closed\n");
  });

  it("ends over stdio when stdin ends", async () => {
    const { child, exited, printed } = await begun(objects, "stdio");
    child.stdin.end();
    expect(await exited).toEqual([0, null]);
    expect(printed.stderr).toBe(`begun\nended: ${objects === "each" ? "left" : "closed"}\n`);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("ends over HTTP when %s comes", async (signal, code) => {
    const { child, exited, printed } = await begun(objects, "http");
    child.kill(signal);
    expect(await exited).toEqual([code, null]);
    expect(printed.stderr).toBe("begun\nended: closed\n");
  });

  it("ends over stdio, and the program that listens to the signal cleans up and exits", async () => {
    const { child, exited, printed } = await begun(objects, "stdio", "listens");
    child.kill("SIGTERM");
    expect(await exited).toEqual([7, null]);
    expect(printed.stderr).toBe("begun\ncleaning\nended: closed\nclean\n");
  });

  it("ends in a mounted server when SIGTERM comes", async () => {
    const { child, exited, printed } = await begun(objects, "stdio", "mounted");
    child.kill("SIGTERM");
    expect(await exited).toEqual([143, null]);
    expect(printed.stderr).toBe("begun\nended: closed\n");
  });

  it("ends over HTTP as the program says that listens to the signal", async () => {
    const { child, exited, printed } = await begun(objects, "http", "listens");
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    expect(printed.stderr).toBe("begun\ndraining\nended: closed\nclosed\n");
  });
});
