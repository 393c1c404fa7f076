import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { serveStdio } from "@parley/mcp/node";
import { recordingServer } from "./recording-server.js";
import { pidFile, runFolder } from "./victims.js";

/** Servers whose name begins so have a process of their own, which would outlive them if nobody ended it. */
const WITH_CHILD = "parent";

/** Serves over stdin and stdout, and writes down the ids of its processes. */
export async function serveStruck(path: string, name: string): Promise<void> {
  const folder = runFolder(path);
  const file = pidFile(folder, name);
  const idle = () => spawn(process.execPath, ["-e", "setTimeout(() => {}, 600_000)"], { stdio: "ignore" });
  const pids = name.startsWith(WITH_CHILD) ? [idle().pid, process.pid] : [process.pid];
  // At once: the last one is the one to strike.
  appendFileSync(file, `${pids.join("\n")}\n`);
  await serveStdio(recordingServer(folder.runs));
}
