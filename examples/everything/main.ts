import { connect } from "@parley/mcp";
import { serveHttp, serveStdio } from "@parley/mcp/node";
import { server } from "./server.js";
import { answers, tour } from "./tour.js";

// Without arguments the tour runs over HTTP in both eras; `--stdio` and `--http` serve until they are stopped.
const [mode] = process.argv.slice(2);

if (mode === "--stdio") {
  await serveStdio(server);
} else if (mode === "--http") {
  const handle = await serveHttp(server, { port: Number(process.env["PORT"] ?? 3000) });
  console.log(`serving everything at ${handle.url}`);
  await handle.closed;
} else {
  const handle = await serveHttp(server, { port: 0 });
  for (const revision of ["2025-11-25", "2026-07-28"] as const) {
    console.log(`\n${revision}`);
    const client = await connect<typeof server>(handle.url, { ...answers, revisions: [revision] });
    await tour(client, (line) => console.log(`  ${line}`));
    await client.close();
  }
  await handle.close();
  await server.close();
  console.log("\nOne server object, every feature, both eras.");
}
