import { beforeAll, describe, expect, it } from "vitest";
import { Connection, type InboundRequest } from "../../jsonrpc/connection.js";
import type { Id, NotificationMessage, RequestMessage } from "../../jsonrpc/message.js";
import { channelPair } from "../../transport/channel/channel-pair.js";
import { serveChannel } from "../../transport/channel/server.js";
import type { HandlerContext } from "../contract/context.js";
import type { ServerOptions } from "../contract/options.js";
import { Server } from "../server.js";
import { loadAsking } from "./with-asking.js";

const form = { type: "object", properties: { v: { type: "string" } } } as const;
const turn = () => new Promise((resolve) => setImmediate(resolve));

// The first question of a process waits for its code; these tests are about what comes after.
beforeAll(loadAsking);

/** A client of the stateful era whose user never answers unless told to. */
async function client(handler: (ctx: HandlerContext) => Promise<string>, options: ServerOptions = {}) {
  const server = new Server({ name: "s", version: "1" }, options).tool("t", {}, (_args, ctx) => handler(ctx));
  const [here, there] = channelPair();
  serveChannel(server, there);
  const questions: RequestMessage[] = [];
  const notices: NotificationMessage[] = [];
  let answer: (text: string) => void = () => {};
  const connection = new Connection<undefined>(
    here,
    {
      request(message: RequestMessage, _inbound: InboundRequest<undefined>) {
        questions.push(message);
        return new Promise((resolve) => {
          answer = (text) => resolve({ text });
        });
      },
      notification: (message) => void notices.push(message),
      closed() {},
    },
    undefined,
  );
  connection.open();
  const send = (id: Id, method: string, params: object) =>
    connection.ask({ id, text: JSON.stringify({ jsonrpc: "2.0", id, method, params }) }) as Promise<{
      isError?: boolean;
      content?: { text: string }[];
    }>;
  const say = (method: string, params: object) => connection.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  await send("hello", "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: { form: {} } },
    clientInfo: { name: "c", version: "1" },
  });
  say("notifications/initialized", {});
  return { send, say, questions, notices, answer: (text: string) => answer(text), connection };
}

const withdrawn = (notices: NotificationMessage[]) =>
  notices.filter(({ method }) => method === "notifications/cancelled").map(({ params }) => params?.["requestId"]);

describe("a question in flight", () => {
  it("is withdrawn when its call is cancelled, so that no form stays open for nobody (CANC-01)", async () => {
    let seen: unknown;
    const one = await client(async (ctx) => {
      seen = await ctx.elicit("sure?", form).catch((error: unknown) => error);
      return "";
    });
    void one.send(7, "tools/call", { name: "t" }).catch(() => {});
    await turn();
    one.say("notifications/cancelled", { requestId: 7 });
    await turn();
    expect(seen).toMatchObject({ kind: "cancelled" });
    expect(withdrawn(one.notices)).toEqual([one.questions[0]?.id]);
  });

  it("is withdrawn when its call ends without it, before the answer", async () => {
    const one = await client(async (ctx) => {
      void ctx.elicit("sure?", form);
      await turn();
      return "never mind";
    });
    const { content } = await one.send(7, "tools/call", { name: "t" });
    expect(content?.[0]?.text).toBe("never mind");
    expect(withdrawn(one.notices)).toEqual([one.questions[0]?.id]);
  });

  it("is given up after `limits.answerMs`, and the error names the limit", async () => {
    const one = await client(async (ctx) => JSON.stringify(await ctx.elicit("sure?", form)), {
      limits: { answerMs: 20 },
    });
    const { isError, content } = await one.send(7, "tools/call", { name: "t" });
    expect([isError, content?.[0]?.text]).toEqual([true, "the client did not answer elicitation/create within 20 ms"]);
    expect(withdrawn(one.notices)).toEqual([one.questions[0]?.id]);
  });

  it("that is answered is not withdrawn, and a late answer to one that was changes nothing", async () => {
    const one = await client(async (ctx) => (await ctx.elicit("sure?", form)).v ?? "");
    const call = one.send(7, "tools/call", { name: "t" });
    await turn();
    const id = JSON.stringify(one.questions[0]?.id);
    one.answer(`{"jsonrpc":"2.0","id":${id},"result":{"action":"accept","content":{"v":"yes"}}}`);
    expect((await call).content?.[0]?.text).toBe("yes");
    expect(withdrawn(one.notices)).toEqual([]);
    one.connection.send(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    void one.send(8, "tools/call", { name: "t" });
    await turn();
    expect(one.questions).toHaveLength(2);
  });

  it("that the client's user refuses fails as declined, as it does where answers come in another round", async () => {
    let seen: unknown;
    const one = await client(async (ctx) => {
      seen = await ctx.elicit("sure?", form).catch((error: unknown) => error);
      throw seen;
    });
    const call = one.send(7, "tools/call", { name: "t" });
    await turn();
    const id = JSON.stringify(one.questions[0]?.id);
    one.answer(`{"jsonrpc":"2.0","id":${id},"error":{"code":-1,"message":"the user said no"}}`);
    expect(await call).toMatchObject({ isError: true, content: [{ text: "the user said no" }] });
    expect(seen).toMatchObject({ name: "McpError", kind: "declined", remote: true });
  });
});
