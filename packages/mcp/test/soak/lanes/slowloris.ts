import { connect } from "@parley/mcp";
import { atMost, exactly, type Lane, type LaneSettings, scaled, told } from "../lane.js";
import { type Program, startProgram } from "../program.js";
import type { CrowdState } from "../programs/slow-crowd.js";
import { waitFor } from "../wait-for.js";

/** Calls of the good client per second. */
const GOOD_RATE = 100;

export const slowloris: Lane = {
  name: "slowloris",
  what: "2,000 connections that send one byte per second, in their headers or in their body, beside one good client",
  async run(settings) {
    const count = scaled(2000, settings.scale);
    const file = await settings.bundle(new URL("../programs/tool-server.ts", import.meta.url));
    const server = await startProgram<{ url: string; port: number }>(file, {});
    const crowdFile = await settings.bundle(new URL("../programs/slow-crowd.ts", import.meta.url));
    const crowd = await startProgram(crowdFile, { port: server.ready.port });
    try {
      return await besideTheCrowd(settings, count, crowd, server.ready.url);
    } finally {
      await crowd.kill();
      await server.stop();
    }
  },
};

async function besideTheCrowd({ scale, say }: LaneSettings, count: number, crowd: Program<unknown>, url: string) {
  // Requests may take 30 s, and slow ones are looked for every 2 s; at a small scale nobody waits for that.
  const seconds = scale === 1 ? 36 : Math.max(3, 36 * scale);
  const client = await connect(url);
  try {
    for (let warm = 0; warm < 50; warm++) await client.call("echo", { nonce: warm });
    await crowd.ask("open", count);
    const { standing } = await crowd.ask<CrowdState>("state");
    say(`${standing} slow connections stand`);
    const { times, failed } = await goodCalls((nonce) => client.call("echo", { nonce }), seconds * GOOD_RATE);
    const end = await crowd.ask<CrowdState>("state");
    times.sort((a, b) => a - b);
    const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
    return {
      size: { "slow connections": count, "good calls": times.length },
      measures: [
        exactly("slow connections that stood at the start", standing, count),
        exactly("good calls that failed", failed, 0),
        atMost("time", "good client, 99th percentile", at(0.99), 100, "ms"),
        told("time", "good client, median", at(0.5), "ms"),
        told("time", "good client, slowest", at(1), "ms"),
        ...(scale === 1
          ? [
              exactly("slow connections that still stood at the end", end.standing, 0),
              atMost("time", "slowest cut of a slow connection", end.slowestCut / 1000, 33, "s"),
            ]
          : []),
      ],
      notes: ["A request may take 30 s with its body, and the server looks every 2 s."],
    };
  } finally {
    await client.close();
  }
}

/** Calls at a fixed rate, whatever the answers take, so that a slow server cannot slow its own measurement. */
async function goodCalls(call: (nonce: number) => Promise<unknown>, count: number) {
  const times: number[] = [];
  let [sent, failed, settled] = [0, 0, 0];
  const one = async (nonce: number) => {
    const since = performance.now();
    try {
      if ((await call(nonce)) !== `nonce ${nonce}`) failed++;
    } catch {
      failed++;
    }
    settled++;
    times.push(performance.now() - since);
  };
  const since = performance.now();
  const timer = setInterval(() => {
    const due = Math.min(count, ((performance.now() - since) * GOOD_RATE) / 1000);
    while (sent < due) void one(sent++);
  }, 1000 / GOOD_RATE);
  await waitFor(() => settled >= Math.floor(count), 60_000 + count * 20, 20);
  clearInterval(timer);
  return { times, failed };
}
