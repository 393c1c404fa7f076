// What JSON alone costs a round trip: request and answer are each written once and read once.
import { answerRounds, repeat } from "../rounds.mjs";
import { type BareMessage, plainAnswer } from "./bare-message.js";

let id = 0;

async function call(a: number, b: number): Promise<unknown> {
  id += 1;
  const params = { name: "add", arguments: { a, b }, _meta: { version: "2026-07-28", client: { name: "bench" } } };
  const request = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
  return JSON.parse(plainAnswer(JSON.parse(request) as BareMessage));
}

answerRounds((ms) => repeat(ms, () => call(1, 2)));
