import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { serveHttp } from "@parley/mcp/node";
import { server } from "../everything/server.js";

// Serves `examples/everything`, and runs a few lines of the command line against it; `--serve` goes on serving.
const serves = process.argv.includes("--serve");
const parley = fileURLToPath(new URL("../../packages/cli/bin/parley.js", import.meta.url));
const handle = await serveHttp(server, { port: serves ? 3000 : 0 });

const lines = [
  ["What is this server?", `info ${handle.url}`],
  ["What can it do?", `list ${handle.url} tools`],
  ["Call a tool.", `call ${handle.url} sum numbers=2 numbers=3`],
  ["Call a tool that asks the user twice, and answer.", `call ${handle.url} buy --answer name=Ada --answer sure=true`],
  [
    "The same tool for a client of 2025.",
    `call ${handle.url} buy --answer name=Bob --answer sure=true --revision 2025-11-25`,
  ],
] as const;

console.log(`One Server object with every feature of the protocol, at ${handle.url}\n`);
for (const [title, line] of lines) {
  console.log(`# ${title}\n$ parley ${line}`);
  const child = spawn(process.execPath, [parley, ...line.split(" ")], { stdio: ["ignore", "inherit", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`parley ${line} ended with ${code}`);
  console.log();
}

console.log(`Next:
  npm start -- --serve                        keeps this server running at port 3000
  npm run install:local                       puts parley on this machine
  parley inspect http://127.0.0.1:3000/mcp    opens the server in the inspector
  parley init my-server                       creates a server of your own, with tests`);
if (serves) {
  console.log("\nThe server goes on until Ctrl-C.");
  process.once("SIGINT", () => void handle.close());
  await handle.closed;
} else {
  await handle.close();
}
await server.close();
