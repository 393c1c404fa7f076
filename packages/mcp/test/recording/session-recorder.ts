import { type RecordedMessage, type RecordingOptions, recordingText } from "@parley/mcp/recording";
import type { WireMessage } from "@parley/mcp/transport";

/** Keeps the messages of a session in memory; give `watch` to `onMessage` of `connect`. */
export class SessionRecorder {
  readonly #options: Omit<RecordingOptions, "began">;
  readonly #messages: RecordedMessage[] = [];
  readonly #connections: object[] = [];

  constructor(options: Omit<RecordingOptions, "began">) {
    this.#options = options;
  }

  readonly watch = ({ direction, message, about, connection }: WireMessage): void => {
    if (!this.#connections.includes(connection)) this.#connections.push(connection);
    const number = this.#connections.indexOf(connection) + 1;
    this.#messages.push({
      ms: this.#messages.length,
      direction,
      message,
      ...(about === undefined ? {} : { about }),
      ...(number === 1 ? {} : { connection: number }),
    });
  };

  /** The recording of what was watched. */
  text(): string {
    return recordingText({ ...this.#options, began: new Date(0) }, this.#messages);
  }
}
