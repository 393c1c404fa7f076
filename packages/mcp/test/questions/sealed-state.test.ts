import { Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ServerOptions } from "../../src/server/contract/options.js";
import { OLD_TEST_SECRET, TEST_SECRET } from "../test-secrets.js";
import { accept, round } from "./stateless-driver.js";

const form = z.object({ v: z.string() });
const fill = () => ({ v: "yes" });

function make(options: ServerOptions = {}): Server<never> {
  return new Server({ name: "q", version: "1" }, options)
    .tool(
      "t",
      { input: z.object({ n: z.number().optional() }) },
      async (_args, ctx) => (await ctx.elicit("sure?", form)).v,
    )
    .tool("other", {}, async (_args, ctx) => (await ctx.elicit("sure?", form)).v)
    .tool("big", {}, async (_args, ctx) => {
      await ctx.step("big", () => "x".repeat(5000));
      return (await ctx.elicit("sure?", form)).v;
    })
    .tool("many", {}, async (_args, ctx) =>
      (await Promise.all(Array.from({ length: 40 }, (_, at) => ctx.elicit(`q${at}`, form)))).length.toString(),
    )
    .tool("endless", {}, async (_args, ctx) => {
      for (let at = 0; ; at++) await ctx.elicit(`q${at}`, form);
    }) as unknown as Server<never>;
}

describe("the state of a question", () => {
  it("is refused when any character is changed, added or removed (MRTR-12)", async () => {
    const server = make();
    const first = await round(server, "t");
    const state = first.result?.requestState ?? "";
    const responses = accept(first, fill);
    const swap = (at: number) => `${state.slice(0, at)}${state[at] === "A" ? "B" : "A"}${state.slice(at + 1)}`;
    const forged = [
      `${state}-TAMPERED`,
      state.slice(0, -1),
      `${state}A`,
      `${state}=`,
      "",
      "1.2.3",
      `x${state}`,
      swap(state.length - 1),
      swap(state.length - 30),
      swap(3),
    ];
    for (const bad of [...forged, 5, null, {}]) {
      const { error } = await round(server, "t", { responses, state: bad });
      expect(error?.code, String(bad)).toBe(-32602);
      expect(error?.message).toContain("requestState");
    }
    expect((await round(server, "t", { responses, state })).result?.content?.[0]?.text).toBe("yes");
  });

  it("fits its own request only: not another tool, other arguments, or another caller (MRTR-13)", async () => {
    const server = make();
    const ada = { key: "ada" };
    const first = await round(server, "t", { args: { n: 1 }, principal: ada });
    const again = { responses: accept(first, fill), state: first.result?.requestState };
    for (const [name, options] of [
      ["other", { principal: ada }],
      ["t", { args: { n: 2 }, principal: ada }],
      ["t", { args: { n: 1 }, principal: { key: "bob" } }],
      ["t", { args: { n: 1 } }],
    ] as const) {
      expect((await round(server, name, { ...options, ...again })).error?.message).toContain("another request");
    }
    expect((await round(server, "t", { args: { n: 1 }, principal: ada, ...again })).result?.content?.[0]?.text).toBe(
      "yes",
    );
  });

  it("expires", async () => {
    let now = 1_000_000;
    const server = make({ platform: { now: () => now } });
    const first = await round(server, "t");
    now += 600_001;
    const late = await round(server, "t", { responses: accept(first, fill), state: first.result?.requestState });
    expect(late.error?.message).toContain("expired");
  });

  it("counts its size in bytes, so that what is sealed can also be opened", async () => {
    // As many characters as the limit has bytes, and three times as many bytes.
    const server = new Server({ name: "q", version: "1" }, { limits: { stateBytes: 30_000 } })
      .tool("fits", {}, async (_args, ctx) => {
        await ctx.step("words", () => "語".repeat(9_000));
        return (await ctx.elicit("sure?", form)).v;
      })
      .tool("too-long", {}, async (_args, ctx) => {
        await ctx.step("words", () => "語".repeat(25_000));
        return (await ctx.elicit("sure?", form)).v;
      }) as unknown as Server<never>;
    const first = await round(server, "fits");
    const again = await round(server, "fits", { responses: accept(first, fill), state: first.result?.requestState });
    expect(again.result?.content?.[0]?.text).toBe("yes");
    expect((await round(server, "too-long")).error?.message).toContain("30000 bytes");
  });

  it.each([
    ["", "`secret` is empty. Is an environment variable not set?"],
    [" ".repeat(40), "`secret` is empty. Is an environment variable not set?"],
    ["x", "`secret` has 1 characters, but needs at least 32"],
    ["x".repeat(31), "`secret` has 31 characters, but needs at least 32"],
    [[], "`secret` is an empty list"],
    [[TEST_SECRET, ""], "`secret[1]` is empty. Is an environment variable not set?"],
    [[TEST_SECRET, "short"], "`secret[1]` has 5 characters, but needs at least 32"],
    [[undefined], "`secret[0]` is missing"],
    [5, "`secret` is not a string"],
    ["the output of `openssl rand -base64 32`", "`secret` is a sample from the documentation"],
    ["at least 32 characters of randomness", "`secret` is a sample from the documentation"],
    ["the same 32 or more characters on every node", "`secret` is a sample from the documentation"],
    [["the same 32 or more characters for each process"], "`secret[0]` is a sample from the documentation"],
  ])("needs a secret that cannot be guessed; refused when the server is made: %j", (secret, message) => {
    const fix = "Set it to an unguessable value, for example the output of `openssl rand -base64 32`.";
    expect(() => make({ secret: secret as string })).toThrow(
      expect.objectContaining({ kind: "invalid_definition", message, fix }),
    );
  });

  it("is understood by another process with the same secret, also while the secret is being replaced", async () => {
    const first = await round(make({ secret: OLD_TEST_SECRET }), "t");
    const again = { responses: accept(first, fill), state: first.result?.requestState };
    expect((await round(make({ secret: [TEST_SECRET, OLD_TEST_SECRET] }), "t", again)).result?.content?.[0]?.text).toBe(
      "yes",
    );
    expect((await round(make({ secret: TEST_SECRET }), "t", again)).error?.message).toContain("another secret");
    expect((await round(make(), "t", again)).error?.message).toContain("another secret");
  });

  it("has a size, rounds have a number, and questions of a round too; each refusal names its limit", async () => {
    expect((await round(make({ limits: { stateBytes: 1000 } }), "big")).error?.message).toContain("1000 bytes");
    expect((await round(make(), "many")).error?.message).toContain("more than 32 questions");
    const server = make({ limits: { rounds: 3 } });
    let last = await round(server, "endless");
    let rounds = 0;
    while (last.result?.resultType === "input_required" && rounds < 10) {
      rounds++;
      last = await round(server, "endless", { responses: accept(last, fill), state: last.result.requestState });
    }
    expect([rounds, last.error?.message]).toEqual([3, expect.stringContaining("more than 3 rounds")]);
  });
});

describe("the id of a call", () => {
  it("is the same in every round and another one in the next call", async () => {
    const seen: string[] = [];
    const server = new Server({ name: "q", version: "1" }).tool("t", {}, async (_args, ctx) => {
      seen.push(ctx.callId);
      await ctx.elicit("sure?", form);
      return "done";
    }) as unknown as Server<never>;
    const first = await round(server, "t");
    await round(server, "t", { responses: accept(first, fill), state: first.result?.requestState });
    await round(server, "t");
    expect([seen[1] === seen[0], seen[2] === seen[0], seen[0]?.length]).toEqual([true, false, 22]);
  });
});
