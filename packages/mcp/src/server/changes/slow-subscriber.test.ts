import { expect, it } from "vitest";
import { platform } from "#platform";
import { meta } from "../../../test/server/talk.js";
import type { ByteStream, ByteStreamEvents } from "../../transport/channel/stream-channel.js";
import { serveStream } from "../../transport/channel/stream-server.js";
import { Server } from "../server.js";

/** One end of a socket whose other end reads, or stopped reading. */
class Socket implements ByteStream {
  readonly received: string[] = [];
  readonly reads: boolean;
  #events: ByteStreamEvents | undefined;

  constructor(reads: boolean) {
    this.reads = reads;
  }

  open(events: ByteStreamEvents): void {
    this.#events = events;
  }

  write(text: string): boolean {
    if (this.reads) this.received.push(...text.split("\n").filter((line) => line !== ""));
    return this.reads;
  }

  send(message: object): void {
    this.#events?.data(new TextEncoder().encode(`${JSON.stringify(message)}\n`));
  }

  end(): void {
    this.destroy();
  }

  destroy(): void {
    this.#events?.closed();
  }

  pause(): void {}
  resume(): void {}
}

const LISTEN = {
  jsonrpc: "2.0",
  id: "sub",
  method: "subscriptions/listen",
  params: { _meta: meta("2026-07-28"), notifications: { resourceSubscriptions: ["t://a"] } },
};

const SUBSCRIBERS = 1000;
const ROUNDS = 50;

it("of 1,000 subscribers the one that does not read is cut off with a reason, and the others miss nothing", async () => {
  const open = new Set<string>();
  const server = new Server(
    { name: "s", version: "1" },
    { onSubscribe: (uri) => open.add(uri), onUnsubscribe: (uri) => open.delete(uri) },
  ).resource("t://a", {}, () => "");
  const faults: Error[] = [];
  const sockets = Array.from({ length: SUBSCRIBERS }, (_, index) => new Socket(index !== 500));
  const served = sockets.map((socket) =>
    serveStream(server.endpoint(), socket, {
      platform,
      maxQueuedMessages: 20,
      onFault: (error) => faults.push(error),
    }),
  );
  for (const socket of sockets) socket.send(LISTEN);
  for (let round = 0; round < ROUNDS; round++) {
    server.resourceUpdated("t://a");
    await new Promise<void>((done) => platform.defer(done));
  }
  expect(faults).toEqual([
    expect.objectContaining({ kind: "limit_exceeded", data: { limit: "maxQueuedMessages", value: 20 } }),
  ]);
  expect(faults[0]).toHaveProperty("fix", expect.stringContaining("reads too slowly"));
  const others = sockets.filter(({ reads }) => reads);
  expect(others).toHaveLength(SUBSCRIBERS - 1);
  // The acknowledgement and every update.
  for (const { received } of others) expect(received).toHaveLength(1 + ROUNDS);
  // The one that was cut off is forgotten: when the others have gone, nobody is left.
  expect([...open]).toEqual(["t://a"]);
  await Promise.all(served.map((one) => one.close()));
  expect([...open]).toEqual([]);
});
