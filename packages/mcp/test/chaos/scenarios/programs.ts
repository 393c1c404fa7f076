// The tools that scenarios run in processes of their own; started over stdio, it serves `echo`, `pid` and `wait`.
import { argv } from "node:process";
import { Server } from "@parley/mcp";
import { serveStdio } from "@parley/mcp/node";

const NUMBER = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;

/** A server whose `echo` gives its number back; `wait` ends only with its process. */
export function echoServer(): Server {
  const server = new Server({ name: "echo", version: "1.0.0" })
    .tool("echo", { input: NUMBER, annotations: { readOnlyHint: true } }, ({ n }) => String(n))
    .tool("pid", {}, () => String(process.pid))
    .tool("wait", {}, () => new Promise<string>(() => {}));
  return server as unknown as Server;
}

if (argv[2] === "serve") {
  await serveStdio(echoServer());
} else if (argv[2] === "crash") {
  process.exit(1);
} else if (argv[2] === "burn") {
  const until = Date.now() + Number(argv[3]);
  while (Date.now() < until);
}
