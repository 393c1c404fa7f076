import { delayedStorage } from "../../src/storage/delayed-storage.js";
import { createMemoryStorage } from "../../src/storage/memory.js";
import type { SseConnection } from "../../src/transport/http/server/sse-connection.js";
import { SessionStreams, type SessionStreamsHost } from "../../src/transport/http/session/streams/session-streams.js";
import type { SessionStream } from "../../src/transport/http/session/streams/stream.js";

/** A connection that records what a client would have read. */
export class Recorder {
  readonly frames: string[] = [];
  open = true;
  onLost: (() => void) | undefined;

  write(frame: string): void {
    if (this.open) this.frames.push(frame);
  }

  end(): void {
    this.open = false;
  }

  /** The stream uses these members only. */
  asConnection(): SseConnection {
    return this as unknown as SseConnection;
  }

  get ids(): string[] {
    return this.frames.map((frame) => /^id: (.*)$/m.exec(frame)?.[1] ?? "");
  }

  get data(): string[] {
    return this.frames.map((frame) => /^data: ?(.*)$/m.exec(frame)?.[1] ?? "");
  }
}

export function home(late: boolean): SessionStreamsHost {
  const memory = createMemoryStorage({ clock: { now: () => 0 } });
  return {
    log: (late ? delayedStorage(memory) : memory).log,
    limits: { maxEntries: 10_000, maxBytes: 1e9, maxAgeMs: 1e9 },
    maxBytesPerSession: 1e9,
    maxBytesPerPrincipal: 1e9,
    maxEndedStreams: 32,
    logName: (_session, stream) => `log/${stream}`,
    alone: false,
    node: "twelve-chars",
    late: { touch() {}, drop() {} },
    retries: { touch() {}, drop() {} },
    monotonic: () => 0,
    newId: () => "x",
    storing: () => {},
    makeRoom: () => {},
    leads: () => true,
    lost: () => {},
    hint: () => {},
    released: () => {},
    drop: () => {},
    failed: (error) => {
      throw error;
    },
  };
}

export function streamOf(host: SessionStreamsHost, soleWriter: boolean): SessionStream {
  return new SessionStreams(host, "session", true).open("x", soleWriter);
}

export const settled = () => new Promise((resolve) => setTimeout(resolve, 2));

export function connect(stream: SessionStream, position?: number): Recorder {
  const recorder = new Recorder();
  if (position === undefined) stream.begin(recorder.asConnection(), () => [1]);
  else stream.attach(recorder.asConnection(), position);
  return recorder;
}
