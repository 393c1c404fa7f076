import { describe, expect, it } from "vitest";
import { commandWords } from "./model-command.js";

describe("commandWords", () => {
  it.each([
    ["node answer.mjs", ["node", "answer.mjs"]],
    ["  ask   --model  m ", ["ask", "--model", "m"]],
    [`"/a folder/ask" 'one two' plain`, ["/a folder/ask", "one two", "plain"]],
    [String.raw`ask "say \"hi\" \\ now"`, ["ask", String.raw`say "hi" \ now`]],
    [`ask --prompt='a b'"c d"`, ["ask", "--prompt=a bc d"]],
    ["ask $HOME; rm -rf *", ["ask", "$HOME;", "rm", "-rf", "*"]],
    [`ask ""`, ["ask", ""]],
  ])("splits %j", (line, words) => {
    expect(commandWords(line)).toEqual(words);
  });

  it.each(["", "   ", "ask 'open", 'ask "open'])("refuses %j", (line) => {
    expect(() => commandWords(line)).toThrow(/--sample-with/);
  });
});
