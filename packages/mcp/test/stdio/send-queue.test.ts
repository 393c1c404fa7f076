import { describe, expect, it } from "vitest";
import { platform } from "../../src/node/platform.js";
import { type ByteStream, type ByteStreamEvents, StreamChannel } from "../../src/transport/channel/stream-channel.js";

/** A stream that takes one write and then asks to wait, until the test drains it. */
class BusyStream implements ByteStream {
  readonly written: string[] = [];
  receiver: ByteStreamEvents | undefined;

  open(receiver: ByteStreamEvents): void {
    this.receiver = receiver;
  }
  write(text: string): boolean {
    this.written.push(text);
    return false;
  }
  pause(): void {}
  resume(): void {}
  end(): void {
    this.receiver?.closed(undefined);
  }
  destroy(): void {
    this.receiver?.closed(undefined);
  }
}

const turn = () => new Promise<void>((resolve) => platform.defer(resolve));

describe("a busy stream", () => {
  it("is waited for by a bounded queue, in order; what does not fit is refused by name, and fits again later", async () => {
    const stream = new BusyStream();
    const channel = new StreamChannel(stream, { platform, maxQueuedMessages: 4 });
    channel.open({ message() {}, fault() {}, closed() {} });
    channel.send("1");
    await turn();
    for (const text of ["2", "3", "4", "5"]) channel.send(text);
    expect(() => channel.send("6")).toThrow(/maxQueuedMessages/);
    await turn();
    expect(stream.written).toEqual(["1\n"]);
    stream.receiver?.drained();
    expect(stream.written).toEqual(["1\n", "2\n3\n4\n5\n"]);
    channel.send("6");
    stream.receiver?.drained();
    expect(stream.written.at(-1)).toBe("6\n");
    await channel.close();
  });
});
