// A gateway over HTTP before a server of its own process, on a pipe or over HTTP. With `serve` it is that server.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Host } from "@parley/mcp/host";
import { serveHttp, serveStdio } from "@parley/mcp/node";
import { listening } from "../rounds.mjs";
import { parleyServer } from "./parley-server.js";

const [, program = "", kind = "stdio", role = "gateway"] = process.argv;

async function serve(): Promise<void> {
  if (kind === "stdio") return void (await serveStdio(parleyServer()));
  // Ends with the gateway, whatever ends that.
  process.stdin.resume().on("end", () => process.exit());
  console.log((await serveHttp(parleyServer(), { port: 0 })).url);
}

/** The address of the server over HTTP. */
async function started(): Promise<string> {
  const child = spawn(process.execPath, [program, "http", "serve"], { stdio: ["pipe", "pipe", "inherit"] });
  for await (const line of createInterface(child.stdout)) return line;
  throw new Error("the server did not start");
}

async function pass(): Promise<void> {
  const entry =
    kind === "stdio" ? { command: process.execPath, args: [program, kind, "serve"] } : { url: await started() };
  const host = new Host({ servers: { server: { ...entry, prefix: false, required: true } } });
  const gateway = host.asServer();
  await host.start();
  listening((await serveHttp(gateway, { port: 0 })).url);
}

await (role === "serve" ? serve() : pass());
