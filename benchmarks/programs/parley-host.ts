// A host of many servers, each a process of its own, whose program is the argument.
import { Host } from "@parley/mcp/host";

const SERVERS = 20;

const [, , program = ""] = process.argv;
const servers = Array.from({ length: SERVERS }, (_, at) => [
  `server${at}`,
  { command: process.execPath, args: [program] },
]);
const host = new Host({ servers: Object.fromEntries(servers), startWaitMs: 60_000 });
await host.start();
const isReady = Object.values(host.status()).every(({ state, tools }) => state === "ready" && tools > 0);
console.log(isReady ? `ready ${host.tools().length}` : "failed");
