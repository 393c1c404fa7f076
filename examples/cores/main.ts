import cluster from "node:cluster";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@parley/mcp";
import { serve } from "./worker.js";
import { Workers } from "./workers.js";

if (cluster.isPrimary) await tellStory();
else await serve(process.env);

async function tellStory(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "parley-cores-"));
  const port = await freePort();
  const workers = new Workers();
  // Given once, to all: a worker with another secret would refuse what the others have sealed.
  await workers.start(Math.max(2, availableParallelism()), {
    PORT: String(port),
    STATE_FILE: join(folder, "state.db"),
    SECRET: randomBytes(32).toString("base64url"),
  });
  // A revision with sessions, which live in the file.
  const client = await connect(`http://127.0.0.1:${port}/mcp`, { revisions: ["2025-11-25"] });
  // Sent again if its worker dies, which is right for a tool that changes nothing.
  const pid = () => client.call("pid", {}, { resend: "always" });
  const answerers = async () => new Set(await Promise.all(Array.from({ length: 16 }, pid)));
  const pids = await answerers();
  console.log(`answered by ${pids.size > 1 ? "several workers" : "one worker"}, in one session`);

  const [victim] = pids;
  const replaced = once(cluster, "fork").then(([worker]) => once(worker, "listening"));
  process.kill(Number(victim), "SIGKILL");
  await once(cluster, "exit");
  console.log(`killed   one; the others answer: ${[...(await answerers())].every((pid) => pid !== victim)}`);
  await replaced;
  console.log("replaced by a new one");

  let begin: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const slow = client.call("slow", {}, { onProgress: () => begin() });
  await begun;
  await workers.stop();
  console.log(`stopped  after ${await slow}`);
  await client.close().catch(() => {});
  rmSync(folder, { recursive: true });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}
