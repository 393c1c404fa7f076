import type { Platform } from "../../platform/platform.js";
import { disposable, type ServeHandle } from "../serve-handle.js";
import type { Endpoint } from "../transport.js";
import { type ServeChannelOptions, startChannel } from "./server.js";
import { type ByteStream, StreamChannel, type StreamChannelOptions } from "./stream-channel.js";

/** Options for serving one byte stream. */
export interface ServeStreamOptions
  extends ServeChannelOptions,
    Pick<
      StreamChannelOptions,
      "maxMessageBytes" | "maxQueuedMessages" | "maxQueuedBytes" | "holdInputAbove" | "decode" | "framing"
    > {
  platform: Platform;
  /** Milliseconds that running requests may take after the peer has ended its output. Default: 2 s. */
  drainMs?: number | undefined;
}

const HOLD_INPUT_ABOVE = 1024 * 1024;

/**
 * Serves one byte stream until it ends. After the peer ends its output, its running requests are still answered within
 * `drainMs`.
 */
export function serveStream(endpoint: Endpoint, stream: ByteStream, options: ServeStreamOptions): ServeHandle {
  const { drainMs = 2000 } = options;
  const channel = new StreamChannel(stream, {
    ...options,
    holdInputAbove: options.holdInputAbove ?? HOLD_INPUT_ABOVE,
    onInputEnd() {
      served.inputEnded();
      void drain();
    },
  });
  const served = startChannel(endpoint, channel, options);
  const drain = (graceMs = drainMs) => served.drain(graceMs);
  const closed = served.closed.then(() => channel.close());
  const close = async () => {
    await served.close();
    await channel.close();
  };
  return disposable({ closed, close, drain });
}
