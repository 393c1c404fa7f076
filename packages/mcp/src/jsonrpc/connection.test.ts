import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { channelPair } from "../transport/channel/channel-pair.js";
import { type Channel, Connection, type ConnectionHandler, type InboundRequest } from "./connection.js";
import type { RpcError } from "./error.js";
import { errorText, type Id, resultText } from "./message.js";

const ask = (id: Id, method = "m", params?: object) => ({
  id,
  text: JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) }),
});

/** One end that records what it gets and lets a test answer by hand. */
function end(channel: Channel, overrides: Partial<ConnectionHandler<string>> = {}, options = {}) {
  const seen = {
    requests: [] as InboundRequest<string>[],
    notifications: [] as string[],
    faults: [] as string[],
    closed: 0,
  };
  const answers = new Map<Id, (text: string) => void>();
  const connection = new Connection<string>(
    channel,
    {
      request(message, inbound) {
        seen.requests.push(inbound);
        return new Promise((resolve) => answers.set(message.id, (text) => resolve({ text })));
      },
      notification: (message) => void seen.notifications.push(message.method),
      closed: () => void seen.closed++,
      fault: (error) => void seen.faults.push(error.message),
      ...overrides,
    },
    "peer",
    options,
  );
  connection.open();
  return { connection, seen, answer: (id: Id, text: string) => answers.get(id)?.(text) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** What a raw end of a pipe hears from a server on the other one. */
function heard(serverOptions = {}, overrides: Partial<ConnectionHandler<string>> = {}) {
  const [raw, far] = channelPair();
  const texts: string[] = [];
  let closed = false;
  raw.open({
    message: (text) => void texts.push(text),
    fault() {},
    closed() {
      closed = true;
    },
  });
  const server = end(far, overrides, { answerFaults: true, ...serverOptions });
  return { raw, texts, server, isClosed: () => closed };
}

function pair(serverOptions = {}) {
  const [a, b] = channelPair();
  return { client: end(a), server: end(b, {}, { answerFaults: true, ...serverOptions }), raw: a };
}

describe("a connection", () => {
  it('gives each request its own answer, whatever the order, and keeps 1 and "1" apart (BASE-05)', async () => {
    const { client, server } = pair();
    const results = [
      client.connection.ask(ask(1)),
      client.connection.ask(ask("1")),
      client.connection.ask(ask(0)),
      client.connection.ask(ask("")),
    ];
    await turn();
    for (const id of ["", 0, "1", 1]) server.answer(id, resultText(id, JSON.stringify({ for: [id, typeof id] })));
    expect(await Promise.all(results)).toEqual([
      { for: [1, "number"] },
      { for: ["1", "string"] },
      { for: [0, "number"] },
      { for: ["", "string"] },
    ]);
  });

  it("refuses a second request with an id that is in flight, with -32600, and answers the first", async () => {
    const { client, server, raw } = pair();
    const first = client.connection.ask(ask(5));
    raw.send(ask(5).text);
    await expect(first).rejects.toMatchObject({ code: -32600 });
    expect(server.seen.requests).toHaveLength(1);
  });

  it("drops answers that nobody waits for, and goes on", async () => {
    const { client, server } = pair();
    server.connection.send(resultText(99, "{}"));
    server.connection.send(errorText("late", -1, "x"));
    const asked = client.connection.ask(ask(1));
    await turn();
    server.answer(1, resultText(1, "{}"));
    await expect(asked).resolves.toEqual({});
    expect(client.seen.faults).toEqual([]);
  });

  it("ignores an answer that comes after it was forgotten (CANC-04)", async () => {
    const { client, server } = pair();
    const asked = client.connection.ask(ask(1));
    await turn();
    client.connection.forget(1, new Error("no longer wanted"));
    await expect(asked).rejects.toThrow("no longer wanted");
    server.answer(1, resultText(1, "{}"));
    await turn();
    expect(client.seen.faults).toEqual([]);
  });

  it("sends no answer after an abort, mutes what the handler says, and tells it by the signal (CANC-03)", async () => {
    const { client, server } = pair();
    const asked = client.connection.ask(ask(1)).catch((error: Error) => error.message);
    await turn();
    const [inbound] = server.seen.requests;
    expect(server.connection.abort(1, new Error("stop"))).toBe(true);
    expect(inbound?.signal.aborted).toBe(true);
    inbound?.send('{"jsonrpc":"2.0","method":"notifications/x"}');
    server.answer(1, resultText(1, "{}"));
    await turn();
    expect(client.seen.notifications).toEqual([]);
    expect(server.connection.abort(1)).toBe(false);
    await client.connection.close();
    expect(await asked).toBe("the connection was closed");
  });

  it("rejects everything pending exactly once when it closes, and says so once", async () => {
    const { client, server } = pair();
    const outcomes = Promise.allSettled([1, 2, 3].map((id) => client.connection.ask(ask(id))));
    await turn();
    await client.connection.close();
    await client.connection.close();
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect([client.seen.closed, server.seen.closed]).toEqual([1, 1]);
    expect(server.seen.requests.every(({ signal }) => signal.aborted)).toBe(true);
    await expect(client.connection.ask(ask(4))).rejects.toThrow("closed");
  });

  it("answers what it cannot read without an id, goes on, and never answers a notification (BASE-09, STDIO-06)", async () => {
    const { client, server, raw } = pair();
    raw.send("{nonsense");
    raw.send('{"jsonrpc":"2.0","method":"notifications/unknown"}');
    raw.send('{"jsonrpc":"2.0","id":null,"method":"m"}');
    const asked = client.connection.ask(ask(1));
    await turn();
    server.answer(1, resultText(1, '{"ok":true}'));
    expect(await asked).toEqual({ ok: true });
    expect(client.seen.faults).toHaveLength(2);
    expect(client.seen.faults[0]).toContain("not JSON");
  });

  it("turns a handler's throw into -32603 without its details", async () => {
    const [a, b] = channelPair();
    const client = end(a);
    end(b, {
      request: () => {
        throw new Error("secret path");
      },
    });
    const error = await client.connection.ask(ask(1)).catch((reason: RpcError) => reason);
    expect(error).toMatchObject({ code: -32603 });
    expect((error as RpcError).message).not.toContain("secret");
  });

  it("refuses more requests at once than its limit, and names the limit", async () => {
    const { client } = pair({ maxInFlight: 2 });
    const outcomes = [1, 2, 3].map((id) => client.connection.ask(ask(id)));
    outcomes[0]?.catch(() => {});
    outcomes[1]?.catch(() => {});
    await expect(outcomes[2]).rejects.toMatchObject({ code: -32603, data: { limit: "maxInFlight" } });
    await client.connection.close();
  });

  it("counts a request that was aborted until its handler has ended: else a peer could start any number", async () => {
    const { client, server } = pair({ maxInFlight: 2 });
    const outcomes: Promise<unknown>[] = [];
    for (const id of [1, 2, 3]) {
      const outcome = client.connection.ask(ask(id));
      outcome.catch(() => {});
      outcomes.push(outcome);
      await turn();
      server.connection.abort(id);
    }
    expect(server.seen.requests).toHaveLength(2);
    await expect(outcomes[2]).rejects.toMatchObject({ data: { limit: "maxInFlight" } });
    server.answer(1, resultText(1, "{}"));
    await turn();
    const fourth = client.connection.ask(ask(4));
    await turn();
    server.answer(4, resultText(4, "{}"));
    expect(await fourth).toEqual({});
  });

  it("answers a batch with one array where batches exist, and refuses it elsewhere (BASE-12, BASE-13)", async () => {
    const [a, b] = channelPair();
    const received: string[] = [];
    a.open({ message: (text) => void received.push(text), fault: () => {}, closed: () => {} });
    end(
      b,
      { request: (message) => ({ text: resultText(message.id, "{}") }), acceptsBatch: () => true },
      { answerFaults: true },
    );
    a.send(`[${ask(1).text},{"jsonrpc":"2.0","method":"n"},${ask("2").text},7,[]]`);
    a.send("[]");
    await turn();
    await turn();
    const batch: unknown = JSON.parse(received.find((text) => text.startsWith("[")) ?? "null");
    expect(batch).toHaveLength(4);
    expect(received.some((text) => text.includes("-32600") && text.startsWith("{"))).toBe(true);
  });
});

describe("request accounting", () => {
  it("gives exactly one outcome to every request under any interleaving of answers, aborts and closing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            id: fc.oneof(fc.nat(30), fc.nat(30).map(String)),
            how: fc.constantFrom("answer", "error", "forget", "leave"),
          }),
          { maxLength: 30 },
        ),
        async (steps) => {
          const { client, server } = pair();
          const unique = [...new Map(steps.map((step) => [step.id, step])).values()];
          let outcomes = 0;
          const all = unique.map(({ id }) =>
            client.connection.ask(ask(id)).then(
              () => outcomes++,
              () => outcomes++,
            ),
          );
          await turn();
          for (const { id, how } of unique) {
            if (how === "answer") server.answer(id, resultText(id, "{}"));
            if (how === "error") server.answer(id, errorText(id, -1, "x"));
            if (how === "forget") client.connection.forget(id, new Error("forgotten"));
          }
          await turn();
          await client.connection.close();
          await Promise.all(all);
          expect(outcomes).toBe(unique.length);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe("input that is no message", () => {
  it("is answered only where somebody may wait for an answer (BASE-09, CANC-05)", async () => {
    const { raw, texts, server } = heard({}, { acceptsBatch: () => true });
    raw.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}');
    raw.send('{"jsonrpc":"2.0","id":"q","error":"no"}');
    raw.send(
      '[{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]},{"jsonrpc":"2.0","id":5,"result":1,"error":2}]',
    );
    await turn();
    expect(texts).toEqual([]);
    expect(server.seen.faults).toHaveLength(2);
    raw.send('{"jsonrpc":"2.0","id":9,"method":"m","params":[1]}');
    raw.send("{");
    await turn();
    expect(texts).toHaveLength(2);
  });

  it("ends the connection when there is nothing else, a hundred times in a row or as often as `maxFaults` says", async () => {
    const { raw, texts, server, isClosed } = heard({ maxFaults: 100 });
    for (let n = 0; n < 99; n++) raw.send("garbage");
    raw.send('{"jsonrpc":"2.0","method":"notifications/x"}');
    for (let n = 0; n < 99; n++) raw.send("garbage");
    await turn();
    expect(isClosed()).toBe(false);
    for (let n = 0; n < 10_000; n++) raw.send("garbage");
    raw.send('{"jsonrpc":"2.0","method":"notifications/late"}');
    await turn();
    expect(isClosed()).toBe(true);
    expect(texts).toHaveLength(200);
    expect(texts.at(-1)).toContain("maxFaults");
    expect(server.seen.notifications).toEqual(["notifications/x"]);
  });
});
