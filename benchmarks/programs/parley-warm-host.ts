// Starts a host of many servers on pipes with what an earlier run kept; one of them hangs. With `serve` it is such a server.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { Host } from "@parley/mcp/host";
import { catalogueFile, serveStdio } from "@parley/mcp/node";
import { answerRounds } from "../rounds.mjs";
import { parleyServer } from "./parley-server.js";

const SERVERS = 20;

const [, program = "", role = "host", hangsAfter = ""] = process.argv;

function hostOf(catalogue: string): Host {
  const servers = Array.from({ length: SERVERS }, (_, at) => {
    // What is kept of a server is known by its command, which must be the same in both runs.
    const args = [program, "serve", ...(at === 0 ? [catalogue] : [])];
    return [`server${at}`, { command: process.execPath, args }];
  });
  return new Host({ servers: Object.fromEntries(servers), catalogue: catalogueFile(catalogue), startWaitMs: 60_000 });
}

async function started(catalogue: string): Promise<{ millis: number }> {
  const since = performance.now();
  const host = hostOf(catalogue);
  await host.start();
  const tools = host.tools().length;
  const millis = performance.now() - since;
  await host.close();
  if (tools !== SERVERS) throw new Error(`${tools} tools are known`);
  return { millis };
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  process.on("SIGTERM", () => process.exit());
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const catalogue = join(folder, "catalogue.json");
  await started(catalogue);
  answerRounds(() => started(catalogue));
}

if (role === "host") await measure();
else if (hangsAfter !== "" && existsSync(hangsAfter)) setInterval(() => {}, 1000);
else await serveStdio(parleyServer());
