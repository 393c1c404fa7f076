import cluster from "node:cluster";
import { setTimeout as wait } from "node:timers/promises";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { sqliteStorage } from "@parley/mcp/storage/sqlite";

/** One of the processes. All share the port, the file and the secret, so that any of them can answer any request. */
export async function serve(env: NodeJS.ProcessEnv): Promise<void> {
  const storage = sqliteStorage({ file: env["STATE_FILE"] ?? "" });
  const server = new Server({ name: "cores", version: "1.0.0" }, { storage, secret: env["SECRET"] ?? "" })
    .tool("pid", () => String(process.pid))
    .tool("slow", async (_args, ctx) => {
      ctx.progress(0);
      await wait(500);
      return "finished";
    });
  const handle = await serveHttp(server, { port: Number(env["PORT"]) });
  process.once("SIGTERM", async () => {
    await handle.drain(5_000); // finishes what runs, accepts nothing new
    await server.close();
    storage.close();
    cluster.worker?.disconnect();
  });
}
