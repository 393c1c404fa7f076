// From bytes to classified messages: the line decoder and the message reader that every pipe uses.
import { parseMessage } from "../../../packages/mcp/src/jsonrpc/message.js";
import { decodeUtf8 } from "../../../packages/mcp/src/node/decode-utf8.js";
import { LineDecoder } from "../../../packages/mcp/src/transport/framing/lines.js";
import { answerRounds, repeatNow } from "../../rounds.mjs";

const CHUNK = 64 * 1024;
const [kind, size = "58"] = process.argv.slice(2);
const message = messageOf(Number(size));
const line = Buffer.from(`${message}\n`);
const count = Math.floor(CHUNK / line.length);
const chunk = Buffer.concat(Array.from({ length: count }, () => line));

/** A call whose text has exactly `bytes` bytes; the shortest is a ping. */
function messageOf(bytes: number): string {
  const short = { jsonrpc: "2.0", id: 123456, method: "ping", params: {} };
  const call = { ...short, method: "tools/call", params: { name: "search", arguments: { query: "" } } };
  const shape = JSON.stringify(call).length > bytes ? short : call;
  const missing = bytes - JSON.stringify(shape).length;
  if (shape === call) call.params.arguments.query = "x".repeat(missing);
  return JSON.stringify(shape);
}

let seen = 0;
const decoder = new LineDecoder(
  {
    message(text) {
      if (parseMessage(text).kind === "request") seen += 1;
    },
    error: ({ message: reason }) => {
      throw new Error(reason);
    },
  },
  { decode: decodeUtf8 },
);

function byParley(): number {
  seen = 0;
  decoder.feed(chunk);
  if (seen !== count) throw new Error(`${seen} of ${count} messages were read`);
  return count;
}

/** What cannot be avoided: the text of each message is there already and goes through `JSON.parse`. */
function byJson(): number {
  for (let at = 0; at < count; at++) JSON.parse(message);
  return count;
}

answerRounds((ms) => repeatNow(ms, count, kind === "json" ? byJson : byParley));
