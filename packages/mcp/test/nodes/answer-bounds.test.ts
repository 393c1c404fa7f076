import { memoryStorage } from "@parley/mcp/storage";
import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { EventReader, LegacyClient } from "../http/legacy-client.js";
import { TEST_SECRET } from "../test-secrets.js";
import { cutStorage } from "./cut-storage.js";

/** Two nodes on one storage, and what it keeps of the answers of a session. */
function twoNodes(eventLog: object) {
  const shared = memoryStorage();
  const handlers = [0, 1].map(() => {
    const server = new Server(
      { name: "t", version: "1" },
      { storage: cutStorage(shared), secret: TEST_SECRET, platform: { warn() {} } },
    ).tool("ask", {}, async (_args, ctx) =>
      JSON.stringify(await ctx.elicit("Text?", { type: "object", properties: { text: { type: "string" } } })),
    );
    return fetchHandler(server, {
      eventLog,
      authenticate: (request) => ({ key: request.header("authorization") ?? "nobody" }),
    });
  });
  const [here, there] = handlers;
  if (here === undefined || there === undefined) throw new Error("no nodes");
  const open = async (key: string) => {
    let node = here;
    const headers = { authorization: key };
    const client = new LegacyClient("http://localhost/mcp", { fetch: (request) => node(request), headers });
    await client.open("2025-11-25", { elicitation: {} });
    const kept = async () => ((await shared.kv.get(`http/t/answers/{${client.sessionId}}`))?.value ?? "").length;
    const answer = (id: unknown, result: object) => client.post({ jsonrpc: "2.0", id, result });
    const moveOn = () => {
      node = there;
    };
    return { client, kept, answer, moveOn };
  };
  return { open, close: () => Promise.all(handlers.map((handler) => handler.close())) };
}

/** An answer to a question that nobody asked. */
const useless = { text: "x".repeat(800) };

describe("answers that are kept for other nodes", () => {
  it("have a bound for each session: the oldest make room", async () => {
    const { open, close } = twoNodes({ maxAnswersLength: 2_000 });
    const { answer, kept } = await open("eve");
    for (let at = 0; at < 5; at++) expect((await answer(`q${at}`, useless)).status).toBe(202);
    expect(await kept()).toBeGreaterThan(1_600);
    expect(await kept()).toBeLessThan(2_100);
    await close();
  });

  it("have a bound for each principal, beyond which a live node still gets them, and others theirs", async () => {
    const { open, close } = twoNodes({ maxAnswersLength: 2_000, maxAnswersLengthPerPrincipal: 3_000 });
    const sessions = await Promise.all(["eve", "eve", "eve", "eve"].map(open));
    for (const { answer, moveOn } of sessions) {
      moveOn();
      await answer("q", useless);
    }
    const lengths = await Promise.all(sessions.map(({ kept }) => kept()));
    expect(lengths.filter((length) => length > 0)).toHaveLength(3);

    const { client, answer, kept, moveOn } = await open("eve");
    const reader = new EventReader(await client.call("ask"));
    const { id } = await reader.message();
    moveOn();
    expect((await answer(id, { action: "accept", content: useless })).status).toBe(202);
    expect(await reader.message()).toMatchObject({ result: { content: [{ text: expect.stringContaining("xxx") }] } });
    expect(await kept()).toBe(0);

    const other = await open("ada");
    other.moveOn();
    await other.answer("q", useless);
    expect(await other.kept()).toBeGreaterThan(800);
    await close();
  });
});
