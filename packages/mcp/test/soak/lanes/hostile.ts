import { request } from "node:http";
import { fileURLToPath } from "node:url";
import { ENDLESS, endlessServer, pour } from "../endless-http.js";
import { atMost, exactly, type Lane, type LaneSettings, type Measure, told } from "../lane.js";
import { MEGABYTE, type Memory } from "../memory.js";
import { listCall } from "../messages.js";
import { type Program, startProgram } from "../program.js";
import type { Ending } from "../programs/victim-client.js";
import { waitFor } from "../wait-for.js";

const FULL_BYTES = 1024 * MEGABYTE;
const PIECE = "x".repeat(MEGABYTE);
const MAX_GROWTH = 64;

export const hostile: Lane = {
  name: "hostile",
  what: "1 GiB that never makes a message: an SSE line, comments, JSON, a gzip bomb, a request body, a line on stdio",
  async run(settings) {
    const bytes = Math.max(40 * MEGABYTE, FULL_BYTES * settings.scale);
    const measures = [
      ...(await clientOverHttp(settings, bytes)),
      ...(await clientOverStdio(settings, bytes)),
      ...(await serverOverHttp(settings, bytes)),
      ...(await serverOverStdio(settings, bytes)),
    ];
    return { size: { "MB in each case": bytes / MEGABYTE }, measures };
  },
};

/** Starts a program for one case, and gives what its memory grew by at its highest beside what the case says. */
async function attacked<R>(
  { bundle, say }: LaneSettings,
  what: string,
  program: string,
  attack: (victim: Program<R>, grown: () => Promise<number>) => Promise<Measure[]>,
  stdio = false,
): Promise<Measure[]> {
  const file = await bundle(new URL(`../programs/${program}`, import.meta.url));
  const victim = await startProgram<R>(file, {}, { stdio });
  let before: number | undefined;
  const grown = async () => {
    // Called first when the program has done its work once and has what every program needs.
    const { rss, peak } = await victim.ask<Memory>(before === undefined ? "memory" : "memoryNow");
    before ??= rss;
    return (Math.max(rss, peak) - before) / MEGABYTE;
  };
  try {
    const measures = await attack(victim, grown);
    const growth = await grown();
    say(`${what}: ${growth.toFixed(1)} MB`);
    return [...measures, atMost("memory", `${what}: growth of resident memory`, growth, MAX_GROWTH, "MB")];
  } finally {
    await victim.stop();
  }
}

async function clientOverHttp(settings: LaneSettings, bytes: number): Promise<Measure[]> {
  const server = await endlessServer(bytes);
  const measures: Measure[] = [];
  try {
    for (const path of ENDLESS) {
      const what = `client, ${path}`;
      const own = await attacked(settings, what, "victim-client.ts", async (victim, grown) => {
        const warm = await victim.ask<Ending>("call", `${server.origin}/small`);
        if (warm.kind !== "answered") throw new Error(`the good server was not understood: ${warm.message}`);
        await grown();
        return endingOf(what, await victim.ask<Ending>("call", `${server.origin}/${path}`));
      });
      measures.push(...own);
    }
  } finally {
    server.close();
  }
  return measures;
}

function clientOverStdio(settings: LaneSettings, bytes: number): Promise<Measure[]> {
  const what = "client, stdio line";
  const endless = fileURLToPath(new URL("../programs/endless-line.mjs", import.meta.url));
  return attacked(settings, what, "victim-client.ts", async (victim, grown) => {
    const run = (size: number) =>
      victim.ask<Ending>("call", { command: process.execPath, args: [endless, String(size)] });
    await run(MEGABYTE);
    await grown();
    return endingOf(what, await run(bytes));
  });
}

function endingOf(what: string, { kind, ms }: Ending): Measure[] {
  return [
    exactly(`${what}: the call was refused (${kind})`, kind === "answered" ? 0 : 1, 1),
    told("time", `${what}: time until then`, ms, "ms"),
  ];
}

function serverOverHttp(settings: LaneSettings, bytes: number): Promise<Measure[]> {
  const what = "server, request body";
  return attacked<{ url: string }>(settings, what, "tool-server.ts", async ({ ready }, grown) => {
    await post(ready.url, 1024);
    await grown();
    const status = await post(ready.url, bytes);
    const { headers, body } = listCall(1);
    const after = await fetch(ready.url, { method: "POST", headers, body });
    await after.text();
    return [
      exactly(`${what}: status`, status, 413),
      exactly(`${what}: status of a good request afterwards`, after.status, 200),
    ];
  });
}

/** Sends a body without a told length; gives the status of the answer, 0 where the connection was cut first. */
function post(url: string, bytes: number): Promise<number> {
  return new Promise((resolve) => {
    let status = 0;
    const sent = request(url, { method: "POST", headers: { ...listCall(1).headers } }, (response) => {
      status = response.statusCode ?? 0;
      response.resume();
      response.on("close", () => {
        sent.destroy();
        resolve(status);
      });
    });
    sent.on("error", () => resolve(status));
    void pour(sent, PIECE, bytes);
  });
}

function serverOverStdio(settings: LaneSettings, bytes: number): Promise<Measure[]> {
  const what = "server, stdio line";
  const attack = async ({ stdin, stdout }: Program<object>, grown: () => Promise<number>): Promise<Measure[]> => {
    if (stdin === null || stdout === null) throw new Error("the program has no pipes");
    let said = "";
    stdout.on("data", (chunk) => {
      said = (said + String(chunk)).slice(-100_000);
    });
    const answered = async (id: number) => {
      stdin.write(`${listCall(id).body}\n`);
      return waitFor(() => said.includes(`"id":${id}`), 60_000);
    };
    if (!(await answered(1))) throw new Error("the server did not answer a good request");
    await grown();
    await pour(stdin, PIECE, bytes, "\n");
    return [exactly(`${what}: a good request afterwards was answered`, (await answered(2)) ? 1 : 0, 1)];
  };
  return attacked(settings, what, "stdio-server.ts", attack, true);
}
