import { LoggedStream, type StreamStorage } from "./logged-stream.js";

/** The id of the first GET stream. It stores messages that belong to no request until the client reads them. */
export const GET_STREAM_ID = "s";

/** The streams of one session that a node knows. */
export class StreamSet {
  // Created on demand, because most sessions are idle most of the time.
  #streams: Map<string, LoggedStream> | undefined;

  get all(): LoggedStream[] {
    return [...(this.#streams?.values() ?? [])];
  }

  get(id: string): LoggedStream | undefined {
    return this.#streams?.get(id);
  }

  /** The stream with this id, created on first use. `soleWriter`: only this node writes to it. */
  open(id: string, soleWriter: boolean, storage: () => StreamStorage): LoggedStream {
    this.#streams ??= new Map();
    const known = this.#streams.get(id);
    if (known !== undefined) return known;
    const stream = new LoggedStream(storage(), id, soleWriter);
    this.#streams.set(id, stream);
    return stream;
  }

  /** Whether a client reads one of them here. */
  get anyAttached(): boolean {
    for (const stream of this.#streams?.values() ?? []) if (stream.attached) return true;
    return false;
  }

  /** The number of GET streams that are open on this node. */
  get getCount(): number {
    let count = 0;
    for (const stream of this.#streams?.values() ?? []) if (stream.attached && stream.byGet) count++;
    return count;
  }

  /** Reads all of them again. */
  followAll(): void {
    for (const stream of this.#streams?.values() ?? []) stream.follow();
  }

  /** Takes out the oldest ended streams beyond `max`. */
  takeOver(max: number): LoggedStream[] {
    const over = this.all.filter((stream) => !stream.attached && isOver(stream));
    const dropped = over.slice(0, Math.max(0, over.length - max));
    for (const { id } of dropped) this.#streams?.delete(id);
    return dropped;
  }

  /** Takes out all of them. */
  takeAll(): LoggedStream[] {
    const { all } = this;
    this.#streams = undefined;
    return all;
  }

  /**
   * The open stream for a message that belongs to no request. Each message goes to exactly one stream.
   *
   * Spec: Transports, "Multiple Connections",
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#multiple-connections
   */
  get openForUnrelated(): LoggedStream | undefined {
    const first = this.#streams?.get(GET_STREAM_ID);
    if (first?.attached === true) return first;
    for (const stream of this.#streams?.values() ?? []) if (stream.attached && stream.byGet) return stream;
    return undefined;
  }
}

/** Whether nothing more will be sent on a stream without a connection. */
function isOver(stream: LoggedStream): boolean {
  return (stream.ended && !stream.storing) || (stream.byGet && stream.id !== GET_STREAM_ID);
}
