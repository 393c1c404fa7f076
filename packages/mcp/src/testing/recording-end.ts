import { platform } from "#platform";
import type { Channel } from "../jsonrpc/channel.js";

const PATIENCE_MS = 10_000;

/** One end of a channel that records what it receives. */
export class RecordingEnd {
  readonly texts: string[] = [];
  readonly faults: Error[] = [];
  readonly endings: (Error | undefined)[] = [];
  /** Messages received after `closed`. */
  lateTexts = 0;

  /** Opens `channel`; `onMessage` runs inside the delivery of each message. */
  constructor(channel: Channel, onMessage: (text: string) => void = () => {}) {
    channel.open({
      message: (text) => {
        if (this.endings.length > 0) this.lateTexts++;
        this.texts.push(text);
        onMessage(text);
      },
      fault: (error) => void this.faults.push(error),
      closed: (reason) => void this.endings.push(reason),
    });
  }

  /** Waits until exactly these texts have arrived. */
  async expectTexts(expected: readonly string[]): Promise<void> {
    let next = 0;
    const what = () => `message ${next} of ${expected.length} arrives`;
    await until(what, () => {
      for (; next < Math.min(expected.length, this.texts.length); next++) {
        if (this.texts[next] !== expected[next]) throw new Error(difference(next, expected[next], this.texts[next]));
      }
      return next === expected.length;
    });
    if (this.texts.length > expected.length)
      throw new Error(`${this.texts.length - expected.length} messages too many`);
  }

  /** Waits for `closed`, then a little longer to detect a second call. */
  async expectClosedOnce(): Promise<void> {
    await until("`closed` is called", () => this.endings.length > 0);
    let more = 5;
    await until("a few turns pass", () => more-- <= 0);
    if (this.endings.length !== 1) throw new Error(`\`closed\` was called ${this.endings.length} times`);
  }
}

/** Checks once per turn until `holds`; rejects after ten seconds with the name of the condition. */
export async function until(what: string | (() => string), holds: () => boolean): Promise<void> {
  const end = platform.monotonic() + PATIENCE_MS;
  while (!holds()) {
    if (platform.monotonic() > end)
      throw new Error(`timed out waiting until ${typeof what === "string" ? what : what()}`);
    await new Promise<void>((resolve) => {
      platform.timer(1, resolve, true);
    });
  }
}

function difference(index: number, expected = "", actual = ""): string {
  const short = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text);
  return `message ${index} is ${short(actual)}, not ${short(expected)}`;
}
