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
  `info ${handle.url}`,
  `list ${handle.url} tools`,
  `call ${handle.url} sum numbers=2 numbers=3`,
  `read ${handle.url} note://today`,
  `search ${handle.url} prime numbers`,
];

console.log(`One Server object with every feature is served at ${handle.url}\n`);
for (const line of lines) {
  console.log(`$ npx parley ${line}`);
  const child = spawn(process.execPath, [parley, ...line.split(" ")], { stdio: ["ignore", "inherit", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`parley ${line} ended with ${code}`);
  console.log();
}
if (serves) {
  console.log("It goes on serving: try these lines, `npx parley --help`, or end it with Ctrl-C.");
  process.once("SIGINT", () => void handle.close());
  await handle.closed;
} else {
  console.log("`npm start -- --serve` goes on serving.");
  await handle.close();
}
await server.close();
