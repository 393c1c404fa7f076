import { atMost } from "../../platform/at-most.js";
import type { Platform } from "../../platform/platform.js";
import type { Endpoint } from "../transport.js";
import type { ByteStream } from "./byte-stream.js";
import { type ServeChannelOptions, serveChannel } from "./server.js";
import { StreamChannel, type StreamChannelOptions } from "./stream-channel.js";

export interface ServeStreamOptions
  extends ServeChannelOptions,
    Pick<
      StreamChannelOptions,
      "maxMessageBytes" | "maxQueuedMessages" | "maxQueuedBytes" | "holdInputAbove" | "decode" | "framing"
    > {
  platform: Platform;
  /** How long requests in flight may take to finish after the peer has ended its output; default 2 s. */
  drainMs?: number;
}

/** One peer served over one stream of bytes. */
export interface ServedStream {
  /** Resolves once, when the stream has ended. */
  readonly closed: Promise<void>;
  /** Ends the stream; requests in flight are aborted. */
  close(): Promise<void>;
  /** Lets the requests in flight finish, at most `ms`, then closes. Default: `drainMs`. */
  drain(ms?: number): Promise<void>;
}

const HOLD_INPUT_ABOVE = 1024 * 1024;

/** Serves one byte stream until it ends. After the peer ends its output, its requests in flight are still answered. */
export function serveStream(endpoint: Endpoint, stream: ByteStream, options: ServeStreamOptions): ServedStream {
  const { platform, drainMs = 2000 } = options;
  const channel = new StreamChannel(stream, {
    ...options,
    holdInputAbove: options.holdInputAbove ?? HOLD_INPUT_ABOVE,
    onInputEnd() {
      served.inputEnded();
      void drain();
    },
  });
  const served = serveChannel(endpoint, channel, options);
  const drain = async (ms = drainMs) => {
    served.endEndless();
    if (served.inFlight > 0) await atMost(platform, ms, served.whenIdle(), true);
    await channel.close();
  };
  const closed = served.closed.then(() => channel.close());
  return { closed, close: () => channel.close(), drain };
}
