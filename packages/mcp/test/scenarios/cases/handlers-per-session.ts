import { Server, type ServerHandler } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

/** How often each object was told to begin and to end, across the process. */
const counts = { begun: 0, ended: 0, twice: 0 };

class Counter implements ServerHandler<{ start: number }> {
  #count: number;
  #isOver = false;

  constructor({ start }: { start: number }) {
    this.#count = start;
  }

  init({ start }: { start: number }) {
    counts.begun++;
    this.#count += start;
  }

  terminate() {
    counts.ended++;
    if (this.#isOver) counts.twice++;
    this.#isOver = true;
  }

  listTools() {
    return ["count", "counts"].map((name) => ({ name, inputSchema: { type: "object" as const } }));
  }

  callTool(name: string) {
    if (name === "counts") return JSON.stringify(counts);
    this.#count++;
    return String(this.#count);
  }
}

export default scenario({
  name: "a handler class serves each session by an object of its own, from its beginning to its end",
  server: () =>
    Server.from(
      Counter,
      { name: "counter", version: "1" },
      { perSession: true, handlerOptions: { start: 10 } },
    ) as unknown as Server<
      Record<string, unknown>,
      { count: { args: object; result: string }; counts: { args: object; result: string } }
    >,
  except: {
    "gateway-stateful":
      'clients of a gateway share its session at the server unless `isolation` is "client", which has tests of its own',
    "gateway-stateless":
      'clients of a gateway share its session at the server unless `isolation` is "client", which has tests of its own',
  },
  async run({ connect, transport, era }) {
    const first = await connect();
    const alone = transport.startsWith("http") && era === "stateless";
    const counted = [await first.call("count"), await first.call("count"), await first.call("count")];
    expect(counted).toEqual(alone ? ["21", "21", "21"] : ["21", "22", "23"]);
    const second = await connect();
    expect(await second.call("count")).toBe("21");
    const seen = async () => JSON.parse(await second.call("counts")) as typeof counts;
    const before = await seen();
    await first.close();
    for (let turn = 0; turn < 2000 && transport !== "stdio"; turn++) {
      const { begun, ended, twice } = await seen();
      expect(twice).toBe(0);
      // The object that answers has not ended.
      if (ended === begun - 1 && ended > 0) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(transport, JSON.stringify([before, await seen()])).toBe("stdio");
  },
});
