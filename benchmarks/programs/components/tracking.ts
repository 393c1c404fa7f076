// Requests of a connection from their sending to the settling of their promise, while many others are outstanding.
import { CallDeadlines } from "../../../packages/mcp/src/client/call/call-deadlines.js";
import { type ChannelReceiver, Connection } from "../../../packages/mcp/src/jsonrpc/connection.js";
import { platform } from "../../../packages/mcp/src/node/platform.js";
import { answerRounds, type Pace, startWatch } from "../../rounds.mjs";

const outstanding = Number(process.argv[2]);
const armed = process.argv[3] === "armed";
let receiver: ChannelReceiver | undefined;
const channel = {
  open(given: ChannelReceiver) {
    receiver = given;
  },
  send: () => {},
  close: () => {},
};
const handler = {
  request: () => ({ text: "" }),
  notification: () => {},
  closed: () => {},
};
const connection = new Connection(channel, handler, undefined);
connection.open();

const deadlines = new CallDeadlines(platform, { expire() {}, abandon() {} });

/** Asks, and has the request end by its deadline where the run is about that, as every call of a client does. */
async function ask(id: number): Promise<void> {
  if (!armed) return void (await connection.ask({ id, text: "" }));
  const now = platform.monotonic();
  const deadline = { started: now, lastActivity: now, idle: 60_000, total: 600_000, paused: 0 };
  deadlines.add(deadline);
  await connection.ask({ id, text: "" });
  deadlines.waiting.delete(deadline);
}

/** Asked for good; they only take their place in the table. */
for (let id = 1; id <= outstanding; id++) ask(id).catch(() => {});

let next = outstanding;

async function turn(): Promise<number> {
  const asked: Promise<unknown>[] = [];
  for (let at = 0; at < 64; at++) {
    next += 1;
    asked.push(ask(next));
  }
  for (let id = next - 63; id <= next; id++) receiver?.message(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
  await Promise.all(asked);
  return 64;
}

answerRounds(async (ms): Promise<Pace> => {
  const watch = startWatch();
  let calls = 0;
  do calls += await turn();
  while (watch.elapsed() < ms);
  return watch.pace(calls);
});
