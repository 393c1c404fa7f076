// What the server itself needs from the text of a request to the text of its answer, without any transport.

import { callText, requestText } from "../messages.js";
import { answerRounds, repeatNow } from "../rounds.mjs";
import { parleyServer } from "./parley-server.js";

const [method, tools] = process.argv.slice(2);
const endpoint = parleyServer(Number(tools)).endpoint();
const request = method === "list" ? requestText("2026", 1, "tools/list", {}) : callText("2026", 1);
const exchange = { id: 1, signal: new AbortController().signal, send: () => {} };

function answer(times: number): number {
  for (let at = 0; at < times; at++) {
    const reply = endpoint.request(endpoint.accept(JSON.parse(request)), exchange);
    if (reply instanceof Promise || !reply.text.includes('"result"')) throw new Error("no answer at once");
  }
  return times;
}

answerRounds((ms) => repeatNow(ms, 100, answer));
