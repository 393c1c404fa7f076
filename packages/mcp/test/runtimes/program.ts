import { connect } from "@parley/mcp";
import { serveStdio } from "@parley/mcp/node";
import { httpFetch } from "../scenarios/transports/http-fetch.js";
import { httpNode } from "../scenarios/transports/http-node.js";
import type { TransportUnderTest } from "../scenarios/transports/transport-under-test.js";
import { cases } from "./cases.js";
import { direct } from "./direct.js";
import { runCells } from "./run-cells.js";

/** Children of the same runtime; the words before the program's path differ between runtimes. */
const stdio: TransportUnderTest = {
  name: "stdio",
  async serve(_server, file) {
    const [program = "", ...rest] = process.argv.slice(1);
    const words = JSON.parse(rest[0] ?? "[]") as string[];
    const target = { command: process.execPath, args: [...words, program, "serve", file] };
    return { connect: (options) => connect(target, options), close: async () => {} };
  },
};

const TRANSPORTS = [direct, httpFetch, httpNode, stdio];

if (process.argv[2] === "serve") await serveCase(process.argv[3] ?? "");
else {
  // Nothing that the library starts may end in a rejection that nobody handles; what does is not lost with the process.
  const unhandled: string[] = [];
  process.on("unhandledRejection", (reason) =>
    unhandled.push(reason instanceof Error ? `${reason.stack}` : String(reason)),
  );
  const outcomes = await runCells(cases, TRANSPORTS, 4);
  for (const trouble of unhandled)
    outcomes.push({ file: "an unhandled rejection", transport: "any", era: "stateful", trouble });
  process.stdout.write(`${JSON.stringify({ outcomes })}\n`, () => process.exit(0));
}

async function serveCase(file: string): Promise<void> {
  const one = cases[file];
  if (one === undefined) throw new Error(`there is no case ${file}`);
  await serveStdio(one.server());
}
