import { fetchSender } from "../../src/http/fetch-sender.js";
import type { Sender } from "../../src/http/http.js";
import { nodeSender } from "../../src/node/http/sender.js";
import { platform } from "../../src/node/platform.js";
import { type HttpClientOptions, httpClientTransport } from "../../src/transport/http/client/client.js";
import type { Transport } from "../../src/transport/transport.js";
import { type RecordingReceiver, recordingReceiver } from "./recording-receiver.js";
import { type Script, type ScriptedServer, scriptedServer } from "./scripted-server.js";

/** The two ways to send, by name. */
export const SENDERS: [string, () => Sender][] = [
  ["fetch", () => fetchSender(globalThis.fetch)],
  ["node:http", () => nodeSender()],
];

export interface Opened {
  server: ScriptedServer;
  transport: Transport;
  receiver: RecordingReceiver;
}

const cleanups: (() => Promise<void>)[] = [];

/** Starts a server with this script and opens a transport to it; `closeAll` ends both. No standing stream unless asked for. */
export async function opened(script: Script, more: Partial<HttpClientOptions> = {}): Promise<Opened> {
  const server = await scriptedServer(script);
  const options = { sender: nodeSender(), platform, getStream: false, ...more };
  const transport = httpClientTransport(server.url, options);
  const receiver = recordingReceiver();
  await transport.open(receiver);
  cleanups.push(async () => {
    // Under a virtual clock nothing would end a wait for a server that is silent.
    await Promise.all([transport.close(), server.close()]);
  });
  return { server, transport, receiver };
}

/** Ends everything that `opened` or `later` began. */
export async function closeAll(): Promise<void> {
  for (const cleanup of cleanups.splice(0)) await cleanup();
}

/** Runs `cleanup` at the end of the test. */
export function later(cleanup: () => Promise<void>): void {
  cleanups.push(cleanup);
}
