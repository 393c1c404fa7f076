// A server of resumable streams: each session is told numbered events as fast as its client allows. The store outlives
// the server, which can be started anew on it.
import { Server } from "@parley/mcp";
import { type ListeningHandle, serveHttp } from "@parley/mcp/node";
import { memoryStorage } from "@parley/mcp/storage";
import type { Endpoint } from "@parley/mcp/transport";
import { answerCommands } from "./answer-commands.js";

type Peer = Parameters<Endpoint["opened"]>[0];

/** What one session is told; it goes on where it was after a restart. */
interface Speaker {
  peer: Peer | undefined;
  said: number;
  allowed: number;
}

/** More than a client leaves unread, so that only the resuming is tried and not the limit of the log. */
const EVENT_LOG = { maxEvents: 5000, maxBytes: 16 * 1024 * 1024 };

const server = new Server({ name: "soak", version: "1.0.0" });
const storage = memoryStorage({ clock: { now: () => performance.now() } });
const speakers = new Map<string, Speaker>();

function speakerOf(name: string): Speaker {
  const known = speakers.get(name);
  if (known !== undefined) return known;
  const speaker: Speaker = { peer: undefined, said: 0, allowed: 0 };
  speakers.set(name, speaker);
  return speaker;
}

function speak(speaker: Speaker): void {
  while (speaker.peer !== undefined && speaker.said < speaker.allowed) {
    const params = { level: "info", data: ++speaker.said };
    speaker.peer.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params }));
  }
}

function endpoint(): Endpoint {
  const inner = server.endpoint();
  return {
    ...(inner.revisions === undefined ? {} : { revisions: inner.revisions }),
    accept: (message, http) => inner.accept(message, http),
    request: (accepted, exchange) => inner.request(accepted, exchange),
    notification(message, peer) {
      inner.notification(message, peer);
      if (peer !== undefined) reached(peer);
    },
    opened(peer) {
      inner.opened(peer);
      reached(peer);
    },
    closed(peer) {
      for (const speaker of speakers.values()) if (speaker.peer === peer) speaker.peer = undefined;
      inner.closed(peer);
    },
  };
}

function reached(peer: Peer): void {
  const name = peer.session?.clientInfo?.name;
  if (name === undefined) return;
  const speaker = speakerOf(name);
  speaker.peer = peer;
  speak(speaker);
}

const serve = (port: number): Promise<ListeningHandle> =>
  serveHttp({ ...endpoint(), storage }, { port, host: "127.0.0.1", eventLog: EVENT_LOG });

let handle = await serve(0);

/** Ends the server with all its streams and sessions in memory, and starts another one on the same store. */
async function restart(): Promise<void> {
  const { port } = handle;
  for (const speaker of speakers.values()) speaker.peer = undefined;
  await handle.close();
  handle = await serve(port);
}

answerCommands(
  { port: handle.port },
  {
    allow({ name, upTo }: { name: string; upTo: number }) {
      const speaker = speakerOf(name);
      speaker.allowed = upTo;
      speak(speaker);
    },
    said: () => [...speakers.values()].reduce((sum, { said }) => sum + said, 0),
    restart,
  },
);
