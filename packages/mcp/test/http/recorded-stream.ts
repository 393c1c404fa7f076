import { delayedStorage } from "../../src/storage/delayed-storage.js";
import { createMemoryStorage } from "../../src/storage/memory.js";
import type { ReplySession } from "../../src/transport/http/server/reply-rules.js";
import type { SseConnection } from "../../src/transport/http/server/sse-connection.js";
import { SessionKeys } from "../../src/transport/http/session/nodes/records.js";
import {
  type SessionStreamServices,
  SessionStreams,
} from "../../src/transport/http/session/streams/session-streams.js";
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

export function home(late: boolean): SessionStreamServices {
  const memory = createMemoryStorage({ clock: { now: () => 0 } });
  return {
    log: (late ? delayedStorage(memory) : memory).log,
    limits: { maxEntries: 10_000, maxBytes: 1e9, maxAgeMs: 1e9 },
    maxBytesPerSession: 1e9,
    maxBytesPerPrincipal: 1e9,
    maxEndedStreams: 32,
    keys: new SessionKeys("test"),
    alone: false,
    late: { touch() {}, drop() {} },
    retries: { touch() {}, drop() {} },
    monotonic: () => 0,
    announce: () => {},
    countStoring: () => {},
    makeRoom: () => {},
    holdsLease: () => true,
    notifyLostEntries: () => {},
    notifyNewEntries: () => {},
    storePosition: () => {},
    drop: () => {},
    failed: (error) => {
      throw error;
    },
  };
}

/** The streams of a session at one node. */
export function streamsOf(host: SessionStreamServices, node = "twelve-chars"): SessionStreams {
  const session: ReplySession & { id: string } = {
    id: "session",
    transport: "http",
    session: { revision: "2025-11-25", initialized: true, subscriptions: [], client: undefined } as never,
    primes: true,
    ended: false,
    saving: undefined,
    requests: undefined,
  } as never;
  return new SessionStreams(host, session, node);
}

export function streamOf(host: SessionStreamServices, soleWriter: boolean, node?: string): SessionStream {
  return streamsOf(host, node).open("x", soleWriter);
}

export const settled = () => new Promise((resolve) => setTimeout(resolve, 2));

export function connect(stream: SessionStream, position?: number): Recorder {
  const recorder = new Recorder();
  if (position === undefined) stream.begin(recorder.asConnection(), [1]);
  else stream.attach(recorder.asConnection(), position);
  return recorder;
}
