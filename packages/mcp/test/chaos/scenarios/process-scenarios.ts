import { spawn } from "node:child_process";
import { cpus } from "node:os";
import { type Client, connect, type Server } from "@parley/mcp";
import { Host } from "@parley/mcp/host";
import { isolatedPool, serveHttp } from "@parley/mcp/node";
import { type Lane, type LaneSettings, scaled } from "../../soak/lane.js";
import { waitFor } from "../../soak/wait-for.js";
import { Outcomes } from "./outcomes.js";
import { echoServer } from "./programs.js";

/** How long a scenario waits for a state; it ends what hangs and bounds nothing that is measured. */
const PATIENCE_MS = 60_000;
const RESTARTS = {
  intensity: { restarts: 1_000_000, withinMs: 60_000 },
  backOff: { firstMs: 20, longestMs: 200, jitter: 0.2 },
};
const program = ({ bundle }: LaneSettings) => bundle(new URL("./programs.ts", import.meta.url));

const numbers = async (outcomes: Outcomes, count: number, call: (n: number) => Promise<unknown>) => {
  for (let n = 0; n < count; n++) await outcomes.call(() => call(n), String(n));
};

/** Ends a server's process by SIGKILL while calls of it run. */
export const processCrash: Lane = {
  name: "process-crash",
  what: "SIGKILL ends a server's process while calls run",
  async run(settings) {
    const outcomes = new Outcomes();
    const rounds = scaled(50, settings.scale);
    const file = await program(settings);
    const host = new Host({ servers: { s: { command: process.execPath, args: [file, "serve"] } }, restarts: RESTARTS });
    await host.start();
    try {
      for (let round = 0; round < rounds; round++) {
        const pid = Number(await host.call("s__pid", {}));
        const waiting = outcomes.call(() => host.call("s__wait", {}), "never");
        outcomes.fault();
        process.kill(pid, "SIGKILL");
        await waiting;
        await numbers(outcomes, 5, (n) => host.call("s__echo", { n }));
        outcomes.recovered();
      }
    } finally {
      await host.close();
    }
    return { size: { kills: rounds }, ...outcomes.measures(["connection_closed"]) };
  },
};

/** Lets one server of a host crash at each start; the others must not notice. */
export const supervisorCascade: Lane = {
  name: "supervisor-cascade",
  what: "One server of a host ends at each start until the host gives it up",
  async run(settings) {
    const outcomes = new Outcomes();
    const calls = scaled(500, settings.scale);
    const file = await program(settings);
    const host = new Host({
      servers: {
        good: { command: process.execPath, args: [file, "serve"] },
        bad: { command: process.execPath, args: [file, "crash"] },
      },
      restarts: { ...RESTARTS, intensity: { restarts: 3, withinMs: 60_000 } },
    });
    outcomes.fault();
    await host.start();
    try {
      const gaveUp = await waitFor(() => host.status()["bad"]?.state === "failed", PATIENCE_MS);
      outcomes.noticed();
      outcomes.expect(gaveUp, "the host did not give the crashing server up");
      await numbers(outcomes, calls, (n) => host.call("good__echo", { n }));
      outcomes.recovered();
      outcomes.expect(host.status()["good"]?.restarts === 0, "the other server was restarted");
    } finally {
      await host.close();
    }
    return { size: { calls }, ...outcomes.measures([]) };
  },
};

/** Lets an isolated tool take all memory of its process. */
export const memoryExhaustion: Lane = {
  name: "memory-exhaustion",
  what: "An isolated tool takes memory until its process has none left",
  async run({ scale }) {
    const outcomes = new Outcomes();
    const rounds = scaled(5, scale);
    const pool = isolatedPool({ kind: "process", size: 1, memoryMb: 64 });
    const hoard = pool.tool(new URL("./greedy-tool.mjs", import.meta.url), { export: "hoard" });
    const client = await connect(withTool(hoard));
    try {
      for (let round = 0; round < rounds; round++) {
        outcomes.fault();
        const failing = outcomes.call(() => client.call("hoard", {}), "never");
        // The thread that serves goes on while the tool's process swells.
        await numbers(outcomes, 20, (n) => client.call("echo", { n }));
        await failing;
        await numbers(outcomes, 5, (n) => client.call("echo", { n }));
        outcomes.recovered();
      }
    } finally {
      await client.close();
      await pool.close();
    }
    return { size: { tools: rounds }, ...outcomes.measures(["tool_error"]) };
  },
};

function withTool(hoard: (...args: never[]) => unknown): Server {
  const inner = echoServer() as unknown as Server;
  return inner.tool("hoard", {}, hoard as () => Promise<never>) as unknown as Server;
}

/** Burns every core with other processes while clients call over HTTP. */
export const cpuSaturation: Lane = {
  name: "cpu-saturation",
  what: "Twice as many busy processes as there are cores, while a client calls over HTTP",
  async run(settings) {
    const outcomes = new Outcomes();
    const calls = scaled(2_000, settings.scale);
    const file = await program(settings);
    const handle = await serveHttp(echoServer(), { port: 0 });
    const client: Client = await connect(handle.url);
    const burning = Array.from({ length: cpus().length * 2 }, () =>
      spawn(process.execPath, [file, "burn", "60000"], { stdio: "ignore" }),
    );
    try {
      outcomes.fault();
      outcomes.noticed();
      await numbers(outcomes, 1, (n) => client.call("echo", { n }));
      outcomes.recovered();
      await numbers(outcomes, calls, (n) => client.call("echo", { n }));
    } finally {
      for (const child of burning) child.kill("SIGKILL");
      await client.close();
      await handle.close();
    }
    return { size: { calls, "busy processes": burning.length }, ...outcomes.measures([]) };
  },
};
