import { describe, expect, it } from "vitest";
import { z } from "zod";
import { talk } from "../../../test/server/talk.js";
import { Server } from "../server.js";

const ERAS = ["2025-11-25", "2026-07-28"] as const;

const numbers = Array.from({ length: 250 }, (_, n) => `item ${n}`);

function completing(): Server {
  return new Server({ name: "s", version: "1" })
    .prompt(
      "p",
      {
        arguments: {
          list: { complete: ["Ann", "bob", "Joan", "ANTON"] },
          many: { complete: () => numbers },
          paged: { complete: async () => ({ values: ["a"], total: 70, hasMore: true }) },
          open: { complete: () => ({ values: ["a"], hasMore: true }) },
          model: { complete: (value, { make = "?" }, ctx) => [`${make}:${value}:${ctx.method}`] },
          none: {},
          bad: { complete: () => [5] as never },
          broken: {
            complete: () => {
              throw new Error("no");
            },
          },
        },
      },
      () => "",
    )
    .prompt(
      "schema",
      { arguments: z.object({ tone: z.enum(["warm", "cold"]), x: z.string() }), complete: { x: ["1"] } },
      () => "",
    )
    .resourceTemplate(
      "repo://{owner}/{name}",
      { complete: { name: (value, { owner }) => [`${owner}/${value}`] } },
      () => "",
    )
    .resource("t://single", {}, () => "");
}

describe.each(ERAS)("completion in %s", (revision) => {
  const complete = async (ref: unknown, argument: unknown, context?: object) =>
    (await talk(completing(), revision)).ask("completion/complete", { ref, argument, ...(context && { context }) });
  const ofPrompt = async (name: string, value: string, context?: object) =>
    (await complete({ type: "ref/prompt", name: "p" }, { name, value }, context)).result?.completion;

  it("is declared where something completes, and only there (COMP-01, COMP-05)", async () => {
    const silent = new Server({ name: "s", version: "1" }).prompt("p", { arguments: { a: {} } }, () => "");
    const client = await talk(silent, revision);
    const params = { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } };
    expect((await client.ask("completion/complete", params)).error?.code).toBe(-32601);
    silent.replace({
      kind: "prompt",
      name: "p",
      definition: { arguments: { a: { complete: ["x"] } } },
      handler: () => "",
    });
    expect((await client.result("completion/complete", params)).completion.values).toEqual(["x"]);
  });

  it("of a list finds what begins with the text, then what holds it, in either case (COMP-06)", async () => {
    expect(await ofPrompt("list", "an")).toEqual({ values: ["Ann", "ANTON", "Joan"], total: 3, hasMore: false });
    expect((await ofPrompt("list", "")).values).toHaveLength(4);
    expect((await ofPrompt("list", "zz")).values).toEqual([]);
  });

  it("gives at most 100 values and says how many there are (COMP-04)", async () => {
    const found = await ofPrompt("many", "");
    expect(found).toMatchObject({ total: 250, hasMore: true });
    expect(found.values).toEqual(numbers.slice(0, 100));
    expect(await ofPrompt("paged", "")).toEqual({ values: ["a"], total: 70, hasMore: true });
    expect(await ofPrompt("open", "")).toEqual({ values: ["a"], hasMore: true });
  });

  it("hears which arguments are settled already (COMP-03)", async () => {
    const context = { arguments: { make: "vw", odd: 5 } };
    expect((await ofPrompt("model", "g", context)).values).toEqual(["vw:g:completion/complete"]);
    expect((await ofPrompt("model", "g")).values).toEqual(["?:g:completion/complete"]);
    const found = await complete(
      { type: "ref/resource", uri: "repo://{owner}/{name}" },
      { name: "name", value: "p" },
      { arguments: { owner: "o" } },
    );
    expect(found.result.completion.values).toEqual(["o/p"]);
  });

  it("works for closed sets of a schema, for templates, and for URIs of a template (COMP-02)", async () => {
    const schema = { type: "ref/prompt", name: "schema" };
    expect((await complete(schema, { name: "tone", value: "c" })).result.completion.values).toEqual(["cold"]);
    expect((await complete(schema, { name: "x", value: "" })).result.completion.values).toEqual(["1"]);
    const uri = { type: "ref/resource", uri: "repo://a/b" };
    expect((await complete(uri, { name: "name", value: "v" })).result.completion.values).toEqual(["undefined/v"]);
    expect((await complete(uri, { name: "owner", value: "v" })).result.completion.values).toEqual([]);
  });

  it("of an argument that nobody completes is empty", async () => {
    expect(await ofPrompt("none", "x")).toEqual({ values: [], total: 0, hasMore: false });
  });

  it("of what does not exist is -32602, of a broken completer -32603 (COMP-05)", async () => {
    const argument = { name: "list", value: "" };
    const refs = [
      { type: "ref/prompt", name: "nope" },
      { type: "ref/prompt" },
      { type: "ref/resource", uri: "x://y" },
      { type: "ref/resource" },
      { type: "ref/tool", name: "p" },
      { type: "ref/prompt", name: "constructor" },
      {},
      null,
      "p",
    ];
    for (const ref of refs) expect((await complete(ref, argument)).error?.code, JSON.stringify(ref)).toBe(-32602);
    const p = { type: "ref/prompt", name: "p" };
    for (const bad of [
      undefined,
      {},
      { name: "list" },
      { value: "" },
      { name: "list", value: 5 },
      { name: "nope", value: "" },
    ]) {
      expect((await complete(p, bad)).error?.code, JSON.stringify(bad)).toBe(-32602);
    }
    const single = { type: "ref/resource", uri: "t://single" };
    expect((await complete(single, argument)).error?.code).toBe(-32602);
    for (const name of ["bad", "broken"]) expect((await complete(p, { name, value: "" })).error?.code).toBe(-32603);
  });
});

it("2024-11-05 has completion without a capability (COMP-01)", async () => {
  const client = await talk(completing(), "2024-11-05");
  expect(client.heard[0]?.result.capabilities).not.toHaveProperty("completions");
  const params = { ref: { type: "ref/prompt", name: "p" }, argument: { name: "list", value: "b" } };
  expect((await client.result("completion/complete", params)).completion.values).toEqual(["bob"]);
});
