import { isInputRequired, McpError, Server, ToolError } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Platform } from "../../src/platform/platform.js";
import type { HandlerContext } from "../../src/server/contract/context.js";
import { accept, asked, drive, round } from "./stateless-driver.js";

const answer = z.object({ v: z.string() });
const echo = (message: string) => ({ v: message.toUpperCase() });

function serverWith(handler: (ctx: HandlerContext) => unknown): Server<never> {
  return new Server({ name: "q", version: "1" }).tool(
    "t",
    {},
    (_args, ctx) => handler(ctx) as Promise<string>,
  ) as unknown as Server<never>;
}

const q = async (ctx: HandlerContext, message: string, key?: string) =>
  (await ctx.elicit(message, answer, key === undefined ? {} : { key })).v;

describe("rounds", () => {
  it("ask what is wanted together in one round, and what depends on an answer in the next (MRTR-03)", async () => {
    const server = serverWith(async (ctx) => {
      const [a, b] = await Promise.all([q(ctx, "a"), q(ctx, "b")]);
      return `${a}${b}${await q(ctx, `after ${a}`)}`;
    });
    const { text, questions } = await drive(server, "t", echo);
    expect(questions).toEqual([["a", "b"], ["after A"]]);
    expect(text).toBe("ABAFTER A");
  });

  it("follow loops and conditions", async () => {
    const server = serverWith(async (ctx) => {
      const all: string[] = [];
      for (let at = 0; at < 4; at++) if (at !== 2) all.push(await q(ctx, `n${at}`));
      return all.join();
    });
    const { text, questions } = await drive(server, "t", echo);
    expect(questions).toEqual([["n0"], ["n1"], ["n3"]]);
    expect(text).toBe("N0,N1,N3");
  });

  it("advance concurrent branches together", async () => {
    const branch = async (ctx: HandlerContext, name: string) =>
      `${await q(ctx, `${name}1`)}${await q(ctx, `${name}2`)}`;
    const server = serverWith(async (ctx) => (await Promise.all([branch(ctx, "x"), branch(ctx, "y")])).join());
    const { text, questions } = await drive(server, "t", echo);
    expect(questions).toEqual([
      ["x1", "y1"],
      ["x2", "y2"],
    ]);
    expect(text).toBe("X1X2,Y1Y2");
  });

  it("take a question that is awaited later", async () => {
    const server = serverWith(async (ctx) => {
      const later = ctx.elicit("early", answer);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return `${await q(ctx, "late")} ${(await later).v}`;
    });
    expect((await drive(server, "t", echo)).text).toBe("LATE EARLY");
  });

  it("survive two questions that are started and then awaited one by one", async () => {
    const server = serverWith(async (ctx) => {
      const a = ctx.elicit("a", answer);
      const b = ctx.elicit("b", answer);
      return `${(await a).v}${(await b).v}`;
    });
    const { text, questions } = await drive(server, "t", echo);
    expect([text, questions]).toEqual(["AB", [["a", "b"]]]);
  });

  it("hand equal questions their answers in asking order", async () => {
    const server = serverWith(async (ctx) =>
      (await Promise.all([q(ctx, "same"), q(ctx, "same"), q(ctx, "same")])).join(),
    );
    const first = await round(server, "t");
    const keys = Object.keys(first.result?.inputRequests ?? {});
    expect(new Set(keys).size).toBe(3);
    const responses = Object.fromEntries(keys.map((key, at) => [key, { action: "accept", content: { v: `${at}` } }]));
    const second = await round(server, "t", { responses, state: first.result?.requestState });
    expect(second.result?.content?.[0]?.text).toBe("0,1,2");
  });
});

describe("what a handler does after its question was noted", () => {
  it("changes nothing: a swallowed signal, another question in the catch, a return value", async () => {
    for (const handler of [
      async (ctx: HandlerContext) => q(ctx, "a").catch(() => "swallowed"),
      async (ctx: HandlerContext) => q(ctx, "a").catch(() => q(ctx, "guess")),
      async (ctx: HandlerContext) => {
        try {
          return await q(ctx, "a");
        } catch {
          throw new McpError("invalid_params", "mine");
        }
      },
    ]) {
      const first = await round(serverWith(handler), "t");
      expect(first.result?.resultType).toBe("input_required");
      expect(asked(first)).toEqual(["a"]);
    }
  });

  it("cannot loop for ever", async () => {
    const server = serverWith(async (ctx) => {
      for (;;) await q(ctx, "a").catch(() => {});
    });
    expect((await round(server, "t")).result?.resultType).toBe("input_required");
  });

  it("runs its finally blocks", async () => {
    let cleaned = 0;
    const server = serverWith(async (ctx) => {
      try {
        return await q(ctx, "a");
      } finally {
        cleaned++;
      }
    });
    await drive(server, "t", echo);
    expect(cleaned).toBe(2);
  });

  it("counts when it settles before the questions go out: a dropped question is never asked", async () => {
    const server = serverWith(async (ctx) => {
      void ctx.elicit("dropped", answer);
      return "done";
    });
    expect((await round(server, "t")).result?.content?.[0]?.text).toBe("done");
  });

  it("does not hold up the questions when it never settles", async () => {
    const server = serverWith((ctx) => {
      void ctx.elicit("a", answer);
      return new Promise(() => {});
    });
    expect(asked(await round(server, "t"))).toEqual(["a"]);
  });

  it("leaves no timer behind, whether it waited for claims, for the handler, or for neither", async () => {
    const pending = new Set<object>();
    const timer: Platform["timer"] = (ms, run) => {
      const handle = setTimeout(() => {
        pending.delete(own);
        run();
      }, ms);
      const own = {
        cancel() {
          clearTimeout(handle);
          pending.delete(own);
        },
      };
      pending.add(own);
      return own;
    };
    const server = new Server({ name: "q", version: "1" }, { platform: { timer } }).tool(
      "t",
      {},
      async (_args, ctx) => {
        const [, second] = await Promise.all([q(ctx, "a"), q(ctx, "b").then(() => q(ctx, "c"))]);
        return second;
      },
    ) as unknown as Server<never>;
    const { text } = await drive(server, "t", echo);
    expect([text, pending.size]).toEqual(["C", 0]);
  });

  it("is told by the signal that its work is over, and can recognise the interruption", async () => {
    let seen: unknown;
    let signal: AbortSignal | undefined;
    const server = serverWith(async (ctx) => {
      signal = ctx.signal;
      try {
        return await q(ctx, "a");
      } catch (error) {
        seen = error;
        throw error;
      }
    });
    await round(server, "t");
    expect([isInputRequired(seen), signal?.aborted]).toEqual([true, true]);
  });
});

describe("steps", () => {
  it("run once over all rounds, with the JSON form of their value in every one", async () => {
    let runs = 0;
    const values: unknown[] = [];
    const server = serverWith(async (ctx) => {
      values.push(
        await ctx.step("s", () => {
          runs++;
          return { at: new Date(0), skip: undefined };
        }),
      );
      await ctx.step("nothing", () => undefined);
      return q(ctx, "a");
    });
    expect((await drive(server, "t", echo)).text).toBe("A");
    expect(runs).toBe(1);
    expect(values).toEqual([{ at: "1970-01-01T00:00:00.000Z" }, { at: "1970-01-01T00:00:00.000Z" }]);
  });

  it("remember a failure too", async () => {
    let runs = 0;
    const server = serverWith(async (ctx) => {
      const failed = await ctx
        .step("s", () => {
          runs++;
          throw new TypeError("broken");
        })
        .catch((error: Error) => `${error.name}: ${error.message}`);
      return `${failed} ${await q(ctx, "a")}`;
    });
    expect((await drive(server, "t", echo)).text).toBe("TypeError: broken A");
    expect(runs).toBe(1);
  });

  it("fail with the same kind of error in every round, so that the caller hears the same", async () => {
    const thrown = [
      new ToolError("no such city", { content: [{ type: "text", text: "Try Oslo." }] }),
      new McpError("invalid_params", "bad city", { data: { city: "x" }, code: -31050 }),
    ];
    for (const error of thrown) {
      const seen: unknown[] = [];
      const server = serverWith(async (ctx) => {
        const failed: unknown = await ctx
          .step("look up", () => Promise.reject(error))
          .catch((reason: unknown) => reason);
        seen.push(failed);
        await q(ctx, "shall it fail?");
        throw failed;
      });
      const { last } = await drive(server, "t", echo);
      expect(seen).toHaveLength(2);
      if (ToolError.is(error)) expect(last.result).toMatchObject({ isError: true, content: [{ text: "Try Oslo." }] });
      else expect(last.error).toEqual({ code: -31050, message: "bad city", data: { city: "x" } });
    }
  });

  it("beside a question finish before the round ends, and are not run again", async () => {
    let runs = 0;
    const slow = () => new Promise<number>((resolve) => setTimeout(() => resolve(++runs), 30));
    const server = serverWith(async (ctx) => (await Promise.all([ctx.step("s", slow), q(ctx, "a")])).join());
    expect((await drive(server, "t", echo)).text).toBe("1,A");
    expect(runs).toBe(1);
  });

  it("refuse a key that is used twice, and a question inside", async () => {
    const twice = serverWith(async (ctx) => {
      await ctx.step("s", () => 1);
      await ctx.step("s", () => 2);
      return "x";
    });
    expect((await round(twice, "t")).error?.message).toContain('"s" was used twice');
    const inside = serverWith(async (ctx) => ctx.step("s", () => q(ctx, "a")));
    expect((await round(inside, "t")).error?.message).toContain('"s" asks a question');
  });
});

describe("answers", () => {
  it("are taken by key without a state; unknown ones are ignored, missing ones asked again (MRTR-15)", async () => {
    const server = serverWith(async (ctx) => `${await q(ctx, "a", "first")} ${await q(ctx, "b", "second")}`);
    const accepted = { action: "accept", content: { v: "x" } };
    const some = await round(server, "t", { responses: { first: accepted, other: accepted } });
    expect(asked(some)).toEqual(["b"]);
    const all = await round(server, "t", { responses: { first: accepted, second: accepted } });
    expect(all.result?.content?.[0]?.text).toBe("x x");
  });

  it("that were not given are asked for again with a fresh state", async () => {
    const server = serverWith(async (ctx) => (await Promise.all([q(ctx, "a", "a"), q(ctx, "b", "b")])).join());
    const first = await round(server, "t");
    const partial = { a: accept(first, echo)["a"] };
    const second = await round(server, "t", { responses: partial, state: first.result?.requestState });
    expect(asked(second)).toEqual(["b"]);
    expect(second.result?.requestState).not.toBe(first.result?.requestState);
    const third = await round(server, "t", {
      responses: { b: accept(second, echo)["b"] },
      state: second.result?.requestState,
    });
    expect(third.result?.content?.[0]?.text).toBe("A,B");
  });

  it("that are malformed or do not fit the form are -32602 (ELIC-09)", async () => {
    const server = serverWith((ctx) => q(ctx, "a", "a"));
    for (const responses of [
      null,
      5,
      [],
      { a: 12345 },
      { a: null },
      { a: { action: "maybe" } },
      { a: { action: "accept", content: { v: 1 } } },
    ]) {
      const { error } = await round(server, "t", { responses });
      expect(error?.code, JSON.stringify(responses)).toBe(-32602);
    }
  });

  it("may decline or dismiss, which the handler sees as a kind and the model as an error", async () => {
    const server = serverWith((ctx) => q(ctx, "a", "a"));
    const declined = await round(server, "t", { responses: { a: { action: "decline" } } });
    expect(declined.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("declined") }] });
    const kinds: string[] = [];
    const catching = serverWith((ctx) =>
      q(ctx, "a", "a").catch((error: McpError) => {
        kinds.push(error.kind);
        return "went on";
      }),
    );
    for (const action of ["decline", "cancel"]) {
      const { result } = await round(catching, "t", { responses: { a: { action } } });
      expect(result?.content?.[0]?.text).toBe("went on");
    }
    expect(kinds).toEqual(["declined", "dismissed"]);
  });

  it("to questions that are no longer asked are an error that names the remedy", async () => {
    let count = 0;
    const server = serverWith((ctx) => q(ctx, `changing ${count++}`));
    const first = await round(server, "t");
    const second = await round(server, "t", { responses: accept(first, echo), state: first.result?.requestState });
    expect(second.error?.message).toContain("did not ask the questions that the client answered");
  });

  it("to a question whose words change fit by its key", async () => {
    let count = 0;
    const server = serverWith((ctx) => q(ctx, `changing ${count++}`, "stable"));
    expect((await drive(server, "t", echo)).text).toBe("CHANGING 0");
  });

  it("need the capability, by kind and mode, and -32021 names it (BASE-22, MRTR-04)", async () => {
    const server = serverWith((ctx) => ctx.elicitUrl("go", "https://example.com/x").then(() => "ok"));
    const { error, status } = await round(server, "t", { capabilities: { elicitation: {} } });
    expect([error?.code, error?.data, status]).toEqual([
      -32021,
      { requiredCapabilities: { elicitation: { url: {} } } },
      400,
    ]);
  });
});
