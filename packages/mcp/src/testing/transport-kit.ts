import { platform } from "#platform";
import type { Channel } from "../jsonrpc/connection.js";
import { McpError } from "../protocol/error.js";

/** The two ends of a pipe, and the faults that a test can cause in it. */
export interface ChannelPair {
  /** One end. */
  readonly a: Channel;
  /** The other end, which receives the messages that `a` sends. */
  readonly b: Channel;
  /** Sends bytes that are not a message to `b`, between two messages. If absent, the case for garbage is skipped. */
  garbage?(): void | Promise<void>;
  /**
   * Breaks the pipe as a crash of the process at the other end of `b` would. If absent, the case for broken pipes is
   * skipped.
   */
  break?(): void | Promise<void>;
  /**
   * Makes the far end of `a` stop reading permanently. Create such a pair with small queue limits. If absent, the case
   * for queue limits is skipped.
   */
  stall?(): void | Promise<void>;
  /** Frees the pair's resources. Called after every case. */
  dispose?(): void | Promise<void>;
}

/** Creates a new pair. Called for each case. */
export type MakePair = () => ChannelPair | Promise<ChannelPair>;

/** One rule of the channel contract. */
export interface TransportCase {
  /** The rule as a sentence, for the title of the test. */
  readonly name: string;
  /** Creates a pair and checks the rule with it. Rejects with the reason if the channel breaks the rule. */
  run(makePair: MakePair): Promise<void>;
}

/**
 * Returns the contract of a `Channel` as cases for any test framework:
 *
 * ```ts
 * for (const { name, run } of transportContract()) it(name, () => run(makePair));
 * ```
 *
 * A case passes without a check if the pair lacks the optional member that it needs.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/transports.md | Transports}
 */
export function transportContract(): TransportCase[] {
  return CASES.map(([name, check]) => ({
    name,
    async run(makePair) {
      const pair = await makePair();
      try {
        await check(pair);
      } finally {
        await Promise.all([pair.a.close(), pair.b.close()]);
        await pair.dispose?.();
      }
    },
  }));
}

type Check = (pair: ChannelPair) => void | Promise<void>;

const CASES: [name: string, check: Check][] = [
  ["delivers messages in order, in both directions", inOrder],
  ["keeps every character, and the boundaries between messages", exactTexts],
  ["delivers a message of 8 MiB", large],
  ["delivers messages sent before the other end was opened", beforeOpen],
  ["delivers 200 messages of 64 KiB in each direction at once", burst],
  ["accepts a message that is sent while another one is delivered", reentrant],
  ["never calls back inside `send` or `close`", asynchronous],
  ["delivers messages sent before `close`, then calls `closed` once on both ends", closeAfterSend],
  ["calls `closed` once when both ends close at the same time, even twice", closeBoth],
  ["ignores messages sent after `close`", sendAfterClose],
  ["reports garbage as a fault and continues", garbageIsFault],
  ["calls `closed` once when the pipe breaks", breaks],
  ["limits the queue for a peer that does not read, and names the limit", bounded],
];

function inOrder({ a, b }: ChannelPair): Promise<void> {
  const [left, right] = openBoth(a, b);
  for (let i = 0; i < 5000; i++) {
    a.send(`{"a":${i}}`);
    b.send(`{"b":${i}}`);
  }
  return Promise.all([
    right.expectTexts(Array.from({ length: 5000 }, (_, i) => `{"a":${i}}`)),
    left.expectTexts(Array.from({ length: 5000 }, (_, i) => `{"b":${i}}`)),
  ]).then(() => {});
}

async function exactTexts({ a, b }: ChannelPair): Promise<void> {
  const [, right] = openBoth(a, b);
  const values = [
    "",
    "\n",
    "\r\n",
    "\u0000",
    "\u2028\u2029",
    "\ufeff",
    "a\u0308",
    "🎈",
    "\\n",
    '"',
    "x".repeat(70_000),
  ];
  const texts = values.map((value) => JSON.stringify({ value }));
  for (const text of texts) a.send(text);
  await right.expectTexts(texts);
}

async function large({ a, b }: ChannelPair): Promise<void> {
  const [, right] = openBoth(a, b);
  const text = JSON.stringify({ value: "0123456789abcdef".repeat(512 * 1024) });
  a.send(text);
  a.send("{}");
  await right.expectTexts([text, "{}"]);
}

async function beforeOpen({ a, b }: ChannelPair): Promise<void> {
  new RecordingEnd(a);
  a.send("{}");
  await turns(5);
  const right = new RecordingEnd(b);
  await right.expectTexts(["{}"]);
}

async function burst({ a, b }: ChannelPair): Promise<void> {
  const [left, right] = openBoth(a, b);
  const texts = Array.from({ length: 200 }, (_, i) => JSON.stringify({ i, fill: "x".repeat(64 * 1024) }));
  for (const text of texts) {
    a.send(text);
    b.send(text);
  }
  await Promise.all([left.expectTexts(texts), right.expectTexts(texts)]);
}

async function reentrant({ a, b }: ChannelPair): Promise<void> {
  const left = new RecordingEnd(a);
  new RecordingEnd(b, (text) => {
    const count = Number(text);
    b.send(String(count));
    if (count < 500) b.send(`-${count}`);
  });
  for (let i = 0; i < 1000; i++) a.send(String(i));
  await left.expectTexts(Array.from({ length: 1000 }, (_, i) => (i < 500 ? [`${i}`, `-${i}`] : [`${i}`])).flat());
}

async function asynchronous({ a, b }: ChannelPair): Promise<void> {
  const [left, right] = openBoth(a, b);
  a.send("1");
  assertThat(right.texts.length === 0, "`message` was called inside `send`");
  await right.expectTexts(["1"]);
  void a.close();
  assertThat(left.endings.length === 0 && right.endings.length === 0, "`closed` was called inside `close`");
}

async function closeAfterSend({ a, b }: ChannelPair): Promise<void> {
  const [left, right] = openBoth(a, b);
  const texts = Array.from({ length: 100 }, (_, i) => JSON.stringify({ i, fill: "x".repeat(10_000) }));
  for (const text of texts) a.send(text);
  await a.close();
  await Promise.all([left.expectClosedOnce(), right.expectClosedOnce()]);
  await right.expectTexts(texts);
  assertThat(right.lateTexts === 0, "a message arrived after `closed`");
  assertThat(
    right.endings[0] === undefined,
    `\`closed\` has a reason after an orderly close: ${right.endings[0]?.message}`,
  );
}

async function closeBoth({ a, b }: ChannelPair): Promise<void> {
  const [left, right] = openBoth(a, b);
  await Promise.all([a.close(), b.close(), a.close(), b.close()]);
  await Promise.all([left.expectClosedOnce(), right.expectClosedOnce()]);
}

async function sendAfterClose({ a, b }: ChannelPair): Promise<void> {
  const [left, right] = openBoth(a, b);
  const closing = a.close();
  a.send("1");
  await closing;
  a.send("2");
  await Promise.all([left.expectClosedOnce(), right.expectClosedOnce()]);
  b.send("3");
  await turns(5);
  assertThat(left.texts.length === 0 && right.texts.length === 0, "a message sent after `close` was delivered");
}

async function garbageIsFault(pair: ChannelPair): Promise<void> {
  if (pair.garbage === undefined) return;
  const [, right] = openBoth(pair.a, pair.b);
  pair.a.send("1");
  await right.expectTexts(["1"]);
  await pair.garbage();
  await until("garbage is reported", () => right.faults.length > 0);
  pair.a.send("2");
  await right.expectTexts(["1", "2"]);
}

async function breaks(pair: ChannelPair): Promise<void> {
  if (pair.break === undefined) return;
  const [, right] = openBoth(pair.a, pair.b);
  pair.a.send("1");
  await right.expectTexts(["1"]);
  await pair.break();
  await right.expectClosedOnce();
}

async function bounded(pair: ChannelPair): Promise<void> {
  if (pair.stall === undefined) return;
  openBoth(pair.a, pair.b);
  await pair.stall();
  const text = JSON.stringify({ fill: "x".repeat(1024 * 1024) });
  let refusal: unknown;
  for (let sent = 0; sent < 300 && refusal === undefined; sent++) {
    try {
      pair.a.send(text);
    } catch (error) {
      refusal = error;
    }
    // Waits a turn after each message, because sockets buffer several megabytes before the channel queues anything.
    await turns(1);
  }
  assertThat(refusal !== undefined, "300 MiB were queued for a peer that does not read");
  assertThat(
    McpError.is(refusal) && refusal.kind === "limit_exceeded",
    `the error is not \`limit_exceeded\`: ${String(refusal)}`,
  );
}

function openBoth(a: Channel, b: Channel): [RecordingEnd, RecordingEnd] {
  return [new RecordingEnd(a), new RecordingEnd(b)];
}

async function turns(count: number): Promise<void> {
  let left = count;
  await until("some turns pass", () => left-- <= 0);
}

function assertThat(holds: boolean, message: string): void {
  if (!holds) throw new McpError("internal_error", message);
}

const TIMEOUT_MS = 10_000;

/** One end of a channel that records all messages, faults and endings. */
class RecordingEnd {
  readonly texts: string[] = [];
  readonly faults: Error[] = [];
  readonly endings: (Error | undefined)[] = [];
  /** Number of messages received after `closed`. */
  lateTexts = 0;

  /** Opens `channel`. `onMessage` runs during the delivery of each message. */
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
      throw new Error(`${this.texts.length - expected.length} unexpected messages`);
  }

  /** Waits for `closed`, then a few turns longer to detect a second call. */
  async expectClosedOnce(): Promise<void> {
    await until("`closed` is called", () => this.endings.length > 0);
    let more = 5;
    await until("a few turns pass", () => more-- <= 0);
    if (this.endings.length !== 1) throw new Error(`\`closed\` was called ${this.endings.length} times`);
  }
}

/** Polls every millisecond until `holds` returns true. Rejects after ten seconds with the name of the condition. */
async function until(what: string | (() => string), holds: () => boolean): Promise<void> {
  const end = platform.monotonic() + TIMEOUT_MS;
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
