import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Sender } from "../../src/http/http.js";
import { platform } from "../../src/node/platform.js";
import { httpClientTransport } from "../../src/transport/http/client/client.js";
import { SENDERS } from "../http-client/opened.js";
import { call, recordingReceiver, rejection } from "../http-client/recording-receiver.js";

const MEBIBYTE = 1024 * 1024;
let server: ChildProcess;
let origin: string;

beforeAll(async () => {
  server = spawn(process.execPath, [fileURLToPath(new URL("../http-client/endless-server.mjs", import.meta.url))], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  if (server.stdout === null) throw new Error("the server has no stdout");
  const [port] = (await once(server.stdout, "data")) as [Buffer];
  origin = `http://127.0.0.1:${String(port).trim()}`;
});

afterAll(async () => {
  server.kill("SIGKILL");
  if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
});

/** The resident memory's growth at its highest while `work` runs, in MiB. */
async function growthDuring(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 2);
  await work();
  clearInterval(timer);
  return (Math.max(peak, process.memoryUsage.rss()) - before) / MEBIBYTE;
}

/** Pays for the code and the buffers that every program needs once. */
async function warmUp(sender: Sender): Promise<void> {
  const transport = httpClientTransport(`${origin}/small`, { sender, platform });
  await transport.open(recordingReceiver());
  await expect(transport.request(call(1))).resolves.toEqual({});
  await transport.close();
}

describe.each(SENDERS)("an answer without end, over %s", (_name, makeSender) => {
  it.each(["line", "lines", "json", "length", "gzip"])("is refused at 16 MiB with little memory: %s", async (path) => {
    const transport = httpClientTransport(`${origin}/${path}`, { sender: makeSender(), platform });
    await transport.open(recordingReceiver());
    let id = 0;
    const refused = async () => {
      const error = await rejection(transport.request(call(++id)));
      expect(error).toMatchObject({ kind: "oversized_frame", fix: expect.any(String) });
    };
    await warmUp(makeSender());
    expect(await growthDuring(refused)).toBeLessThanOrEqual(64);
    await transport.close();
  });

  it("of comments is read to its end, with little memory, and then is an answer that never came", async () => {
    const transport = httpClientTransport(`${origin}/comments`, { sender: makeSender(), platform });
    await transport.open(recordingReceiver());
    const growth = await growthDuring(async () => {
      expect(await rejection(transport.request(call(1)))).toMatchObject({ kind: "connection_closed" });
    });
    expect(growth).toBeLessThanOrEqual(64);
    await transport.close();
  });
});
