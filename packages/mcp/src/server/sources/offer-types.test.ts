import { expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { prompt } from "../contract/prompt.js";
import { resourceTemplate } from "../contract/resource.js";
import { tool } from "../contract/tool.js";
import { promptTemplate } from "../prompts/template.js";
import { Server } from "../server.js";

it("named arguments are strings, and optional unless they are required", () => {
  prompt(
    "p",
    {
      arguments: {
        must: { required: true, complete: () => ({ values: ["a"], hasMore: true }) },
        may: { complete: (value, args, ctx) => [value, args["must"] ?? "", ctx.method] },
        free: { required: false },
      },
    },
    (args) => {
      expectTypeOf(args.must).toEqualTypeOf<string>();
      expectTypeOf(args.may).toEqualTypeOf<string | undefined>();
      expectTypeOf(args.free).toEqualTypeOf<string | undefined>();
      // @ts-expect-error: nobody declared it
      return args.other;
    },
  );
  // @ts-expect-error: a misspelt member of an argument
  prompt("p", { arguments: { a: { requird: true } } }, () => "");
  prompt("p", {}, (_args, ctx) => ctx.method);
  expect(prompt("p", {}, promptTemplate("{{x}}")).kind).toBe("prompt");
});

it("a schema gives the arguments its own types, also where one is called type", () => {
  prompt("p", { arguments: z.object({ n: z.coerce.number() }) }, ({ n }) => {
    expectTypeOf(n).toEqualTypeOf<number>();
    return "";
  });
  const json = { type: "object", properties: { a: { type: "string" } }, required: ["a"] } as const;
  prompt("p", { arguments: json }, ({ a }) => {
    expectTypeOf(a).toEqualTypeOf<string>();
    return "";
  });
  const made = prompt("p", { arguments: { type: { required: true } } }, ({ type }) => {
    expectTypeOf(type).toEqualTypeOf<string>();
    return "";
  });
  expect(made.name).toBe("p");
});

it("the variables of a template are typed by its text", () => {
  const made = resourceTemplate(
    "repo://{owner}/{+path}{?page,tags*}",
    {
      list: () => [{ variables: { owner: "a", path: "b", tags: ["c"] } }],
      complete: { owner: ["a"], page: (value) => [value] },
    },
    (variables) => {
      expectTypeOf(variables).toEqualTypeOf<{ owner: string; path: string; page?: string; tags?: string[] }>();
      return "";
    },
  );
  expect(made.name).toBe("repo://{owner}/{+path}{?page,tags*}");
  expect(() =>
    new Server({ name: "s", version: "1" }).resourceTemplate(
      "t://{a}",
      // @ts-expect-error: the template has no such variable
      { complete: { b: [] } },
      () => "",
    ),
  ).toThrow(/no variable "b"/);
  // @ts-expect-error: a listed member needs every variable that a URI must have
  resourceTemplate("t://{a}/{b}", { list: () => [{ variables: { a: "1" } }] }, () => "");
});

it("a chain keeps what it knows of tools, whatever comes between", () => {
  const server = new Server({ name: "s", version: "1" })
    .tool("one", { output: z.object({ n: z.number() }) }, () => ({ n: 1 }))
    .resource("t://a", {}, () => "")
    .prompt("p", {}, () => "")
    .add(
      tool("two", {}, () => "2"),
      prompt("q", {}, () => ""),
    );
  expectTypeOf<keyof typeof server.types.tools>().toEqualTypeOf<"one" | "two">();
  expectTypeOf<(typeof server.types)["tools"]["one"]["result"]>().toEqualTypeOf<{ n: number }>();
  expect(server.remove("prompt", "q")).toBe(true);
});
