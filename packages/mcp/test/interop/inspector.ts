import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { featuresOf } from "../../src/protocol/revisions.js";
import { RUNTIMES } from "../runtimes/runtime.js";
import type { Row } from "./matrix.js";
import { peerPath, type ServedAt } from "./peer-process.js";
import type { Outcomes } from "./run-rows.js";

const run = promisify(execFile);
const LAUNCHER = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
/** It needs a newer Node than the oldest one that the tests run on. */
const newer = RUNTIMES.find(({ name, installed }) => name === "Node 22" && installed)?.binary ?? process.execPath;

/** Drives Parley's server by the official inspector's command line, one request a process. */
export async function inspect(row: Row, place: ServedAt): Promise<Outcomes> {
  const home = mkdtempSync(join(tmpdir(), "parley-inspector-"));
  try {
    const list = await request(row, place, home, ["--method", "tools/list"]);
    expect(list["tools"]).toEqual(expect.arrayContaining([expect.objectContaining({ name: "add" })]));
    const args = ["--tool-name", "add", "--tool-args-json", '{"a":2,"b":3}'];
    const sum = await request(row, place, home, ["--method", "tools/call", ...args]);
    expect(sum["content"]).toMatchObject([{ type: "text", text: "5" }]);
    return {};
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function request(row: Row, place: ServedAt, home: string, method: string[]): Promise<Record<string, unknown>> {
  const era = featuresOf(row.revision).era === "stateless" ? "modern" : "legacy";
  const options = ["--cli", "--format", "json", "--quiet", "--protocol-era", era, ...method];
  const target = "url" in place ? ["--server-url", place.url, "--transport", "http"] : [place.command, ...place.args];
  // It keeps settings in the home directory, and the user's own must not be touched.
  const env = { ...process.env, HOME: home };
  const { stdout } = await run(newer, [peerPath(LAUNCHER), ...options, ...target], { env, timeout: 60_000 });
  return (JSON.parse(stdout) as { result: Record<string, unknown> }).result;
}
