import { readFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { PEERS, ROOT } from "./child.js";
import type { Machine } from "./results.js";

const PEER_PACKAGES = [
  "@modelcontextprotocol/server",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/node",
  "@modelcontextprotocol/sdk",
  "mcp-lite",
  "tmcp",
  "zod",
];

export function thisMachine(): Machine {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
  };
}

/** The versions of all that is compared. */
export function versions(): Record<string, string> {
  const peers = PEER_PACKAGES.map((name) => [name, versionIn(join(PEERS, "node_modules", name))]);
  return { "@parley/mcp": versionIn(join(ROOT, "packages/mcp")), ...Object.fromEntries(peers) };
}

function versionIn(folder: string): string {
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  return version;
}
