import { McpError, Server } from "@parley/mcp";
import { apps } from "@parley/mcp/apps";
import { describe, expect, it } from "vitest";
import { server as everything } from "../../../../examples/everything/server.js";
import { callActions } from "../../src/calls/call-actions.js";
import { offerActions } from "../../src/offers/offer-actions.js";
import { questionActions } from "../../src/questions/question-actions.js";
import { openRooms } from "../calls/opened-rooms.js";
import { ERAS } from "../engine/opened-engine.js";

/** The actions of these rooms as the page reaches them, around one connection. */
async function openActions(...target: Parameters<typeof openRooms>) {
  const rooms = await openRooms(...target);
  const connections = {
    get: (id: string) => {
      if (id === "c1") return rooms.connection;
      throw new McpError("invalid_params", `there is no connection ${id}`);
    },
  };
  const sandbox = () => "http://127.0.0.1:1/";
  const actions = {
    ...callActions(rooms.calls, connections),
    ...offerActions({ connections, offers: rooms.offers, subscriptions: rooms.subscriptions, sandbox }),
    ...questionActions(rooms.questions),
  };
  return { rooms, actions };
}

for (const revision of ERAS) {
  describe(`the page, ${revision}`, () => {
    it("calls a tool, answers its question and reads the outcome", async () => {
      const { rooms, actions } = await openActions(everything, { revision, over: "http" });
      const request = { kind: "tool", name: "survey", arguments: {} } as const;
      const { call } = await actions.call({ connection: "c1", request });
      const { id: question } = await rooms.asked();
      await actions.answer({ question, answer: { action: "accept", content: { stars: 5 } } });
      await rooms.ended(call);
      expect(JSON.stringify(await actions.outcome({ call }))).toContain("5 stars");
      expect(await actions.cancelCall({ call })).toEqual({});
    });

    it("completes arguments of prompts and variables of templates", async () => {
      const { actions } = await openActions(everything, { revision, over: "http" });
      const ofPrompt = { target: { prompt: "review" }, argument: { name: "language", value: "Ger" }, settled: {} };
      expect(await actions.complete({ connection: "c1", ...ofPrompt })).toMatchObject({ values: ["German"] });
      const ofTemplate = { target: { template: "note://{id}" }, argument: { name: "id", value: "to" }, settled: {} };
      const { values } = await actions.complete({ connection: "c1", ...ofTemplate });
      expect(values).toEqual(expect.arrayContaining(["today", "tomorrow"]));
    });

    it("reads the page of a tool, and where its sandbox is", async () => {
      const html = "<!doctype html><title>Map</title>";
      const server = new Server({ name: "s", version: "1" }, { extensions: [apps()] })
        .tool("map", { ui: { uri: "ui://map", html } }, () => "x")
        .tool("plain", {}, () => "x");
      const { actions } = await openActions(server, { revision, over: "http" });
      expect(await actions.appPage({ connection: "c1", tool: "map" })).toMatchObject({
        page: { uri: "ui://map", html },
        sandbox: "http://127.0.0.1:1/",
      });
      await expect(actions.appPage({ connection: "c1", tool: "plain" })).rejects.toThrow("has no page");
      await expect(actions.appPage({ connection: "c1", tool: "none" })).rejects.toThrow("not in the list");
    });

    it("lists, subscribes and unsubscribes", async () => {
      const { rooms, actions } = await openActions(everything, { revision, over: "http" });
      expect((await actions.list({ connection: "c1", kind: "prompts", refresh: true })).offers).toHaveLength(2);
      expect(await actions.offer({ connection: "c1", kind: "tools", name: "sum" })).toHaveProperty("definition");
      await actions.subscribe({ connection: "c1", uri: "note://today" });
      const write = { kind: "tool", name: "write", arguments: { id: "today", text: "new" } } as const;
      await actions.call({ connection: "c1", request: write });
      await rooms.when(() => rooms.subscriptions.list()[0]?.updates === 1);
      expect(await actions.unsubscribe({ connection: "c1", uri: "note://today" })).toEqual({});
      expect(rooms.subscriptions.list()).toEqual([]);
    });
  });
}

describe("what no page of ours would send", () => {
  const tool = { kind: "tool", name: "sum", arguments: {} };
  const argument = { name: "a", value: "b" };
  const wrong: [action: string, input: unknown, message: string][] = [
    ["call", {}, "`request` is missing"],
    ["call", { request: tool }, "`connection` is missing"],
    ["call", { connection: "c2", request: tool }, "there is no connection c2"],
    ["call", { connection: "c1", request: { ...tool, kind: "shell" } }, "`kind` is"],
    ["call", { connection: "c1", request: { ...tool, name: 5 } }, "`name` is 5"],
    ["call", { connection: "c1", request: { ...tool, arguments: [] } }, "`arguments` is []"],
    ["call", { connection: "c1", request: { ...tool, asTask: "yes" } }, "`asTask` is"],
    ["call", { connection: "c1", request: { kind: "prompt", name: "x", arguments: { a: 1 } } }, "`a` is 1"],
    ["call", { connection: "c1", request: { kind: "resource" } }, "`uri` is missing"],
    ["call", { connection: "c1", request: { kind: "skill", name: null } }, "`name` is null"],
    ["call", { connection: "c1", request: { kind: "request", method: "x" } }, "`params` is missing"],
    ["call", null, "`input` is null"],
    ["cancelCall", { call: 1 }, "`call` is 1"],
    ["outcome", { call: "__proto__" }, "does not exist"],
    ["answer", { question: "question-9", answer: { action: "accept" } }, "no longer pending"],
    ["answer", { question: "question-1", answer: { action: "agree" } }, "`action` is"],
    ["answer", { question: "question-1", answer: { action: "sample" } }, "`result` is missing"],
    ["list", { connection: "c1", kind: "secrets" }, "`kind` is"],
    ["list", { connection: "c1", kind: "tools", refresh: 1 }, "`refresh` is 1"],
    ["offer", { connection: "c1", kind: "tools", name: "constructor" }, "not in the list"],
    ["complete", { connection: "c1", target: {}, argument, settled: {} }, "`template` is missing"],
    ["complete", { connection: "c1", target: { prompt: "x" }, argument, settled: { a: 1 } }, "`a` is 1"],
    ["subscribe", { connection: "c1", uri: {} }, "`uri` is {}"],
    ["unsubscribe", { connection: "c1" }, "`uri` is missing"],
    ["appPage", { connection: "c1" }, "`tool` is missing"],
  ];

  it("is refused with what is wrong about it", async () => {
    const { rooms, actions } = await openActions(everything);
    // Every action takes one input, whatever its type says.
    const all = actions as unknown as Record<string, (input: unknown) => unknown>;
    for (const [action, input, message] of wrong) {
      const act = async () => all[action]?.(input);
      await expect(act(), `${action} ${JSON.stringify(input)}`).rejects.toMatchObject({
        kind: "invalid_params",
        message: expect.stringContaining(message),
      });
    }
    expect(rooms.calls.list()).toEqual([]);
  });
});
