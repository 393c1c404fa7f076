import { describe, expect, it } from "vitest";
import { z } from "zod";
import { talk } from "../../../test/server/talk.js";
import { prompt } from "../contract/prompt.js";
import { assistant, foldSystem, user } from "../prompts/message.js";
import { promptTemplate } from "../prompts/template.js";
import { Server } from "../server.js";
import { audio, image, link, resource, text } from "../tools/content.js";

const ERAS = ["2025-11-25", "2026-07-28"] as const;
const server = () => new Server({ name: "s", version: "1" });

describe.each(ERAS)("prompts in %s", (revision) => {
  const get = async (made: Server, name: unknown, args?: unknown) =>
    (await talk(made, revision)).ask("prompts/get", { name, ...(args === undefined ? {} : { arguments: args }) });
  const messages = async (made: Server, name: string, args?: object) => {
    const { result, error } = await get(made, name, args);
    expect(error).toBeUndefined();
    return result.messages;
  };

  it("are listed with all that they say of themselves (PROMPT-01, PROMPT-02)", async () => {
    const made = server()
      .prompt(
        "greet",
        {
          title: "Greet",
          description: "says hello",
          arguments: { who: { title: "Who", description: "a name", required: true, complete: ["ann"] }, how: {} },
          icons: [{ src: "https://example.com/i.png" }],
          _meta: { a: 1 },
          visibleTo: () => true,
        },
        () => "",
      )
      .prompt("plain", {}, () => "");
    expect((await (await talk(made, revision)).result("prompts/list")).prompts).toEqual([
      {
        name: "greet",
        title: "Greet",
        description: "says hello",
        arguments: [{ name: "who", title: "Who", description: "a name", required: true }, { name: "how" }],
        icons: [{ src: "https://example.com/i.png" }],
        _meta: { a: 1 },
      },
      { name: "plain" },
    ]);
  });

  it("a string is one message of the user, and arguments arrive typed (PROMPT-03)", async () => {
    const made = server().prompt(
      "greet",
      { description: "d", arguments: { who: { required: true }, how: {} } },
      ({ who, how }) => {
        const must: string = who;
        const may: string | undefined = how;
        return `hello ${must}, ${may ?? "plainly"}`;
      },
    );
    const { result } = await get(made, "greet", { who: "Ann" });
    expect(result.description).toBe("d");
    expect(result.messages).toEqual([{ role: "user", content: { type: "text", text: "hello Ann, plainly" } }]);
  });

  it("messages hold every kind of content, of both roles (PROMPT-03)", async () => {
    const png = new Uint8Array([1, 2]);
    const made = server().prompt("all", {}, async () => ({
      description: "of this call",
      messages: [
        "plain",
        text("text"),
        user(image(png, "image/png"), audio("AQI=", "audio/wav")),
        assistant("I see", resource("t://r", "body", { mimeType: "text/plain" })),
        { role: "assistant" as const, content: link("t://l", { name: "l" }) },
        { type: "text" as const, text: "by hand" },
      ],
    }));
    const { result } = await get(made, "all");
    expect(result.description).toBe("of this call");
    expect(result.messages).toEqual([
      { role: "user", content: { type: "text", text: "plain" } },
      { role: "user", content: { type: "text", text: "text" } },
      { role: "user", content: { type: "image", data: "AQI=", mimeType: "image/png" } },
      { role: "user", content: { type: "audio", data: "AQI=", mimeType: "audio/wav" } },
      { role: "assistant", content: { type: "text", text: "I see" } },
      {
        role: "assistant",
        content: { type: "resource", resource: { uri: "t://r", mimeType: "text/plain", text: "body" } },
      },
      { role: "assistant", content: { type: "resource_link", uri: "t://l", name: "l" } },
      { role: "user", content: { type: "text", text: "by hand" } },
    ]);
  });

  it("unknown prompts and arguments that do not fit are -32602 and reach no handler (PROMPT-04)", async () => {
    let ran = 0;
    const made = server().prompt("p", { arguments: { a: { required: true }, b: {} } }, () => {
      ran++;
      return "";
    });
    const bad = [
      {},
      { b: "x" },
      { a: 5 },
      { a: null },
      { a: "x", c: "y" },
      [],
      "a",
      JSON.parse('{"a":"x","__proto__":"y"}'),
    ];
    for (const args of bad) expect((await get(made, "p", args)).error?.code, JSON.stringify(args)).toBe(-32602);
    for (const name of ["q", "constructor", "__proto__", 5, undefined]) {
      expect((await get(made, name, { a: "x" })).error?.code).toBe(-32602);
    }
    expect((await get(made, "p", {})).error?.message).toContain('"a" is missing');
    expect(ran).toBe(0);
  });

  it("arguments may be described by a schema, which checks and may change them", async () => {
    const made = server()
      .prompt(
        "zod",
        {
          arguments: z.object({
            count: z.coerce.number().int().describe("how many"),
            tone: z.enum(["warm", "cold"]).optional(),
          }),
        },
        ({ count, tone }) => `${count + 1} ${tone ?? "-"}`,
      )
      .prompt(
        "json",
        { arguments: { type: "object", properties: { a: { type: "string", title: "A" } }, required: ["a"] } },
        ({ a }) => a.toUpperCase(),
      )
      .prompt("odd", { arguments: { type: { required: true } } }, ({ type }) => type);
    const { prompts } = await (await talk(made, revision)).result("prompts/list");
    expect(prompts.map((found: { arguments: unknown }) => found.arguments)).toEqual([
      [
        { name: "count", description: "how many", required: true },
        { name: "tone", required: false },
      ],
      [{ name: "a", title: "A", required: true }],
      [{ name: "type", required: true }],
    ]);
    expect((await messages(made, "zod", { count: "4" }))[0].content.text).toBe("5 -");
    expect((await messages(made, "json", { a: "x" }))[0].content.text).toBe("X");
    expect((await messages(made, "odd", { type: "t" }))[0].content.text).toBe("t");
    expect((await get(made, "zod", { count: "many" })).error).toMatchObject({ code: -32602 });
    expect((await get(made, "zod", { count: "1", tone: "hot" })).error?.message).toContain("/tone");
  });

  it("a template is its own handler and names its arguments", async () => {
    const made = server().prompt("review", { description: "d" }, promptTemplate("Review {{ code }} in {{lang}}."));
    const client = await talk(made, revision);
    expect((await client.result("prompts/list")).prompts[0].arguments).toEqual([
      { name: "code", required: true },
      { name: "lang", required: true },
    ]);
    const { messages: made2 } = await client.result("prompts/get", {
      name: "review",
      arguments: { code: "{{lang}}", lang: "C" },
    });
    expect(made2[0].content.text).toBe("Review {{lang}} in C.");
  });

  it("take messages of the role `system` folded into one of the user (C13)", async () => {
    const image = { type: "image" as const, data: "AA==", mimeType: "image/png" };
    const provider = [
      { role: "system" as const, content: "Be brief." },
      { role: "user" as const, content: [image] },
      { role: "system" as const, content: { type: "text" as const, text: "Be kind." } },
      { role: "assistant" as const, content: "Yes." },
    ];
    const made = server().prompt("folded", {}, () => foldSystem(provider));
    expect(await messages(made, "folded")).toEqual([
      { role: "user", content: { type: "text", text: "Be brief.\n\nBe kind." } },
      { role: "user", content: image },
      { role: "assistant", content: { type: "text", text: "Yes." } },
    ]);
    expect(foldSystem([{ role: "user", content: "a" }])).toEqual([
      { role: "user", content: { type: "text", text: "a" } },
    ]);
    expect(foldSystem([])).toEqual([]);
    expect(() => foldSystem([{ role: "system", content: [image] }])).toThrow("content other than text");
  });

  it("whose handler throws or returns junk fail alone, with -32603 (PROMPT-04)", async () => {
    const made = server()
      .prompt("throws", {}, () => {
        throw new Error("no");
      })
      // Programs without types return anything.
      .prompt("nothing", {}, () => undefined as never)
      .prompt("role", {}, () => ({ role: "system", content: "x" }) as never)
      .prompt("content", {}, () => user({ type: "video" } as never))
      .prompt("good", {}, () => "fine");
    for (const name of ["throws", "nothing", "role", "content"]) {
      expect((await get(made, name)).error?.code, name).toBe(-32603);
    }
    expect(await messages(made, "good")).toHaveLength(1);
  });

  it("may be for some callers only; for others they do not exist", async () => {
    const made = server()
      .prompt("open", {}, () => "")
      .prompt("secret", { visibleTo: ({ auth }) => auth?.subject === "admin" }, () => "gold");
    const guest = await talk(made, revision);
    const admin = await talk(made, revision, { principal: { key: "a", subject: "admin" } });
    expect((await guest.result("prompts/list")).prompts).toHaveLength(1);
    expect((await admin.result("prompts/list")).prompts).toHaveLength(2);
    expect((await guest.ask("prompts/get", { name: "secret" })).error?.message).toBe("unknown prompt: secret");
    expect((await admin.result("prompts/get", { name: "secret" })).messages).toHaveLength(1);
  });
});

describe("prompts at registration", () => {
  it("are values too, and are replaced and withdrawn by name", async () => {
    const made = server().add(
      prompt("a", {}, () => "1"),
      prompt("b", {}, () => "2"),
    );
    made.replace(prompt("a", { title: "new" }, () => "3"));
    const client = await talk(made, "2025-11-25");
    expect((await client.result("prompts/list")).prompts).toEqual([{ name: "a", title: "new" }, { name: "b" }]);
    expect(made.remove("prompt", "a")).toBe(true);
    expect(made.remove("prompt", "a")).toBe(false);
    expect(() => made.prompt("b", {}, () => "")).toThrow(/prompt "b" exists already/);
    const noObject = { type: "string" } as never;
    expect(() => made.prompt("c", { arguments: noObject }, () => "")).toThrow(/must be an object/);
    expect(() => made.prompt("c", { complete: { x: ["1"] } }, () => "")).toThrow(/no argument "x"/);
  });

  it("refuse a raw shape of schemas, which is a habit of the official SDK", () => {
    const server = new Server({ name: "s", version: "1" });
    const shape = { a: z.string() } as unknown as { a: { required: true } };
    expect(() => server.prompt("p", { arguments: shape }, () => "")).toThrow(
      'the argument "a" of prompt "p" is a schema',
    );
  });

  it("older revisions get what they know", async () => {
    const made = server().prompt("a", { title: "A", arguments: { x: { title: "X" } } }, () => [
      audio("AA==", "audio/wav"),
      link("t://x"),
    ]);
    const client = await talk(made, "2024-11-05");
    expect((await client.result("prompts/list")).prompts).toEqual([{ name: "a", arguments: [{ name: "x" }] }]);
    const { messages } = await client.result("prompts/get", { name: "a" });
    expect(messages.map(({ content }: { content: { type: string } }) => content.type)).toEqual(["text", "text"]);
  });
});
