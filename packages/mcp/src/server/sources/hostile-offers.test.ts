import { describe, expect, it } from "vitest";
import { talk } from "../../../test/server/talk.js";
import { Server } from "../server.js";

const ERAS = ["2025-11-25", "2026-07-28"] as const;
const ODD_NAMES = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf"];

describe.each(ERAS)("hostile input in %s", (revision) => {
  it("names of object members are plain data everywhere", async () => {
    const server = new Server({ name: "s", version: "1" });
    for (const name of ODD_NAMES.slice(0, 3)) {
      server.prompt(name, { arguments: { [name]: { required: true, complete: [name] } } }, (args) =>
        JSON.stringify(Object.entries(args)),
      );
      server.resource(`odd:${name}`, {}, () => name);
      server.resourceTemplate(`odd${ODD_NAMES.indexOf(name)}:{${name}}`, {}, (variables) =>
        JSON.stringify(Object.keys(variables)),
      );
    }
    const client = await talk(server, revision);
    for (const name of ODD_NAMES.slice(0, 3)) {
      const args = JSON.parse(`{"${name}":"x"}`);
      const { messages } = await client.result("prompts/get", { name, arguments: args });
      expect(messages[0].content.text).toBe(`[["${name}","x"]]`);
      const read = async (uri: string) => (await client.result("resources/read", { uri })).contents[0].text;
      expect(await read(`odd:${name}`)).toBe(name);
      expect(await read(`odd${ODD_NAMES.indexOf(name)}:value`)).toBe(`["${name}"]`);
      const completion = { ref: { type: "ref/prompt", name }, argument: { name, value: "" } };
      expect((await client.result("completion/complete", completion)).completion.values).toEqual([name]);
    }
    for (const name of ODD_NAMES.slice(3)) {
      expect((await client.ask("prompts/get", { name })).error?.code).toBe(-32602);
      expect((await client.ask("resources/read", { uri: name })).error?.data).toEqual({ uri: name });
      const ref = { type: "ref/prompt", name: "constructor" };
      expect((await client.ask("completion/complete", { ref, argument: { name, value: "" } })).error?.code).toBe(
        -32602,
      );
      expect((await client.ask("logging/setLevel", { level: name })).error?.code).toBeLessThan(-32600);
    }
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  it("control characters, broken escapes and line ends match no template", async () => {
    const server = new Server({ name: "s", version: "1" })
      .resourceTemplate("t://row/{id}", {}, ({ id }) => id)
      .resourceTemplate("t://all/{+rest}", {}, ({ rest }) => rest);
    const client = await talk(server, revision);
    for (const tail of ["1\n", "1\u0000", "%00", "%", "%2", "%zz", "%ff", "%c0%ae%c0%ae", "", "a\r\nb"]) {
      for (const head of ["t://row/", "t://all/"]) {
        expect((await client.ask("resources/read", { uri: head + tail })).error, JSON.stringify(tail)).toBeDefined();
      }
    }
  });
});

it("a subscriber cannot make the server hold much, and learns which limit it met", async () => {
  const server = new Server({ name: "s", version: "1" }).resourceTemplate("t://{+x}", {}, () => "");
  const long = (n: number) => `t://${n}${"a".repeat(12_000)}`;
  const client = await talk(server, "2025-11-25");
  for (const n of [1, 2]) await client.result("resources/subscribe", { uri: long(n) });
  const { error } = await client.ask("resources/subscribe", { uri: long(3) });
  expect(error).toMatchObject({ code: -32603, data: { limit: "subscriptionLength", value: 32_768 } });
  const modern = await talk(server, "2026-07-28");
  const refused = await modern.ask("subscriptions/listen", {
    notifications: { resourceSubscriptions: [long(1), long(2), long(3)] },
  });
  expect(refused.error).toMatchObject({ data: { limit: "subscriptionLength" } });
});
