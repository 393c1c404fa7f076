// Requests of a connection from their sending to the settling of their promise, while many others are outstanding.
import type { ChannelReceiver } from "../../../packages/mcp/src/jsonrpc/channel.js";
import { Connection } from "../../../packages/mcp/src/jsonrpc/connection.js";
import { answerRounds, type Pace, startWatch } from "../../rounds.mjs";

const outstanding = Number(process.argv[2]);
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

/** Asked for good; they only take their place in the table. */
for (let id = 1; id <= outstanding; id++) connection.ask({ id, text: "" }).catch(() => {});

let next = outstanding;

async function turn(): Promise<number> {
  const asked: Promise<unknown>[] = [];
  for (let at = 0; at < 64; at++) {
    next += 1;
    asked.push(connection.ask({ id: next, text: "" }));
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
