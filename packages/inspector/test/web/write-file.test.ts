import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { openWebServer } from "../../src/web/web-server.js";
import { builtPage } from "../kit/built-page.js";
import { actionHeaders, keysOf } from "../kit/inspector-keys.js";
import { ScriptedEngine } from "../kit/scripted-engine.js";

/** Parts that a test gives one by one. */
class GivenParts {
  readonly #given: (string | Error)[] = [];
  #ended = false;
  #wake = () => {};
  /** Whether whoever reads has stopped, at the end or before. */
  left = false;

  give(part: string | Error): void {
    this.#given.push(part);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *parts(): AsyncGenerator<string> {
    try {
      for (;;) {
        const part = this.#given.shift();
        if (part instanceof Error) throw part;
        if (part !== undefined) yield part;
        else if (this.#ended) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      this.left = true;
    }
  }
}

async function served(given: GivenParts) {
  const file = { name: "a.jsonl", mediaType: "text/plain", parts: given.parts() };
  const engine = new ScriptedEngine({ exportSession: () => file });
  const web = await openWebServer(engine, { port: 0, pageFolder: await builtPage() });
  onTestFinished(() => web.close());
  const keys = await keysOf(web.url);
  const post = async (name: string): Promise<IncomingMessage> => {
    const headers = Object.fromEntries(actionHeaders(keys).map((line) => line.split(": ", 2)));
    const sent = request({ port: keys.port, host: "127.0.0.1", method: "POST", path: `/api/${name}`, headers });
    sent.end("{}");
    const [answer] = await once(sent, "response");
    answer.setEncoding("utf8");
    return answer;
  };
  return post;
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of answer) text += chunk;
  return text;
}

describe("a file that an action gives", () => {
  it("is sent as it is written, and other actions are answered meanwhile", async () => {
    const given = new GivenParts();
    const post = await served(given);
    given.give('one "\n');
    const chunks = (await post("exportSession"))[Symbol.asyncIterator]();
    let text = "";
    while (!text.includes("one")) text += (await chunks.next()).value;
    // The file is not at its end, and cannot be before the other answer is there.
    expect(await textOf(await post("clear"))).toBe('{"ok":true,"value":{}}');
    given.give("two \u2028 </script>");
    given.end();
    const value = { name: "a.jsonl", mediaType: "text/plain", text: 'one "\ntwo \u2028 </script>' };
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) text += next.value;
    expect(JSON.parse(text)).toEqual({ ok: true, value });
    expect(given.left).toBe(true);
  });

  it("is written no further when its page has gone", async () => {
    const given = new GivenParts();
    const post = await served(given);
    given.give("begin");
    const answer = await post("exportSession");
    answer.destroy();
    const isLeft = () => {
      // Some parts are taken before it can be known that nobody reads.
      given.give("more");
      return given.left;
    };
    await expect.poll(isLeft).toBe(true);
  });

  it("is no answer where it fails in the middle", async () => {
    const given = new GivenParts();
    const post = await served(given);
    given.give("begin");
    given.give(new Error("the disk is gone"));
    await expect(post("exportSession").then(textOf)).rejects.toMatchObject({ code: "ECONNRESET" });
  });
});
