// The limit for stdio: lines and JSON, and nothing of the protocol but the shape of its answer.
import { type BareMessage, otherAnswer, plainAnswer, tunedAnswer } from "./bare-message.js";

const tuned = process.argv[2] === "tuned";
const answer = tuned ? tunedAnswer : plainAnswer;
let rest = "";
let waiting = "";

process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk: string) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  let out = "";
  for (const line of lines) {
    const message = JSON.parse(line) as BareMessage;
    if (message.id === undefined) continue;
    out += `${message.method === "tools/call" ? answer(message) : otherAnswer(message)}\n`;
  }
  if (tuned) later(out);
  else process.stdout.write(out);
});

/** Gathers what several reads of one turn give into one write. */
function later(text: string): void {
  if (waiting === "" && text !== "") {
    setImmediate(() => {
      process.stdout.write(waiting);
      waiting = "";
    });
  }
  waiting += text;
}
