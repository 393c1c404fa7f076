import { execFile } from "node:child_process";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { promisify } from "node:util";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { ROOT } from "../child.js";
import type { Bench, Contender } from "../contender.js";

const run = promisify(execFile);

/** Stands for the address of the server in the arguments of a contender. */
export const SERVER_URL = "<url>";

/**
 * How long a command takes from its start to its end, beside a process of Node that does nothing. The server that it calls runs
 * in this process, and has answered before. The contender's file is the command's program; an empty one is the bare process.
 */
export async function commandTime({ program: { file, args = [] } }: Contender): Promise<Bench> {
  const server = new Server({ name: "bench", version: "1.0.0" }).tool(
    "add",
    { input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] } },
    ({ a, b }) => String(Number(a) + Number(b)),
  );
  const handle = await serveHttp(server, { port: 0 });
  const words = args.map((word) => (word === SERVER_URL ? handle.url : word));
  const line = file === "" ? ["-e", "0"] : [join(ROOT, file), ...words];
  const once = () => run(process.execPath, line);
  await once();
  return {
    async round() {
      const started = performance.now();
      await once();
      return { millis: performance.now() - started };
    },
    async close() {
      await handle.close();
      await server.close();
    },
  };
}
