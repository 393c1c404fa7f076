import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { platform } from "../../src/node/platform.js";
import { httpClientTransport } from "../../src/transport/http/client/client.js";
import { SENDERS } from "../http-client/opened.js";
import { call, recordingReceiver, rejection } from "../http-client/recording-receiver.js";
import { liveBytes } from "./cost.js";

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

/** The most bytes that are held while `work` runs, beyond those before; looked at less and less often, because it takes long. */
async function heldDuring(work: () => Promise<unknown>): Promise<number> {
  const before = liveBytes();
  let most = 0;
  let wait = 10;
  const look = () => {
    most = Math.max(most, liveBytes() - before);
    wait *= 2;
    timer = setTimeout(look, wait);
  };
  let timer = setTimeout(look, wait);
  await work();
  clearTimeout(timer);
  return Math.max(most, liveBytes() - before);
}

describe.each(SENDERS)("an answer without end, over %s", (name, makeSender) => {
  it.each(["line", "lines", "json", "length", "gzip"])("is refused at 16 MiB with little memory: %s", async (path) => {
    const url = `/${path}?${name}`;
    const transport = httpClientTransport(`${origin}${url}`, { sender: makeSender(), platform });
    await transport.open(recordingReceiver());
    const written = new Promise<number>((resolve) => {
      server.on("message", (told: { url: string; written: number }) => told.url === url && resolve(told.written));
    });
    const held = await heldDuring(async () => {
      const error = await rejection(transport.request(call(1)));
      expect(error).toMatchObject({ kind: "oversized_frame", fix: expect.any(String) });
    });
    expect(held).toBeLessThanOrEqual(40 * MEBIBYTE);
    // Sockets hold some megabytes too; a small body can be written to its end, whoever reads it.
    if (path !== "gzip") expect(await written).toBeLessThanOrEqual(48 * MEBIBYTE);
    await transport.close();
  });

  it("of comments is read to its end, with little memory, and then is an answer that never came", async () => {
    const transport = httpClientTransport(`${origin}/comments`, { sender: makeSender(), platform });
    await transport.open(recordingReceiver());
    const held = await heldDuring(async () => {
      expect(await rejection(transport.request(call(1)))).toMatchObject({ kind: "connection_closed" });
    });
    expect(held).toBeLessThanOrEqual(16 * MEBIBYTE);
    await transport.close();
  });
});
