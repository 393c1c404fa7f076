import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { freePort } from "../free-port.js";

const peers = new URL("../peers/", import.meta.url);

/** The path of a file in the folder of peers. */
export function peerPath(path: string): string {
  return fileURLToPath(new URL(path, peers));
}

/** Where a server is, in the words of the peers' programs. */
export type ServedAt = { url: string } | { command: string; args: string[] };

/** A peer that serves HTTP. */
export interface PeerProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a server of the peers' folder and waits until it says where it serves: by an address in its output, or, when it must be
 * given a port, by the words "listening" or "running".
 */
export async function startPeer(program: string, args: readonly string[]): Promise<PeerProcess> {
  const port = await freePort();
  const child = spawn(process.execPath, [peerPath(program), ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, PORT: String(port) },
  });
  try {
    const said = await firstMatch(child, /(http:\/\/127\.0\.0\.1:\d+\/mcp)\n|port \d+/);
    const path = args.includes("sse") ? "/sse" : "/mcp";
    return { url: said[1] ?? `http://127.0.0.1:${port}${path}`, stop: () => stop(child) };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

function firstMatch(child: ChildProcess, pattern: RegExp): Promise<RegExpMatchArray> {
  return new Promise((resolve, reject) => {
    let said = "";
    const hear = (chunk: string) => {
      said += chunk;
      const match = pattern.exec(said);
      if (match !== null) resolve(match);
    };
    child.stdout?.setEncoding("utf8").on("data", hear);
    child.stderr?.setEncoding("utf8").on("data", hear);
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`the peer ended with ${code} and said: ${said}`)));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
