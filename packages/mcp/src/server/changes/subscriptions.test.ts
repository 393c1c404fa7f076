import { describe, expect, it } from "vitest";
import { talk, turn } from "../../../test/server/talk.js";
import type { ServerOptions } from "../contract/options.js";
import { prompt } from "../contract/prompt.js";
import { resource } from "../contract/resource.js";
import { tool } from "../contract/tool.js";
import { Server } from "../server.js";

const ID = "io.modelcontextprotocol/subscriptionId";
const UPDATED = "notifications/resources/updated";
const ACK = "notifications/subscriptions/acknowledged";

function full(options: ServerOptions = {}): Server {
  return new Server({ name: "s", version: "1" }, options)
    .tool("t", {}, () => "")
    .prompt("p", {}, () => "")
    .resource("t://a", {}, () => "a")
    .resource("t://b", {}, () => "b")
    .resourceTemplate("t://row/{id}", {}, ({ id }) => id);
}

describe("subscriptions of a session", () => {
  it("start and end by request, and receive changes of their own URIs only (RES-07)", async () => {
    const server = full();
    const one = await talk(server, "2025-11-25");
    const two = await talk(server, "2024-11-05");
    expect(one.heard[0]?.result.capabilities.resources).toEqual({ subscribe: true, listChanged: true });
    expect(await one.result("resources/subscribe", { uri: "t://a" })).toEqual({});
    expect(await one.result("resources/subscribe", { uri: "t://a" })).toEqual({});
    await one.result("resources/subscribe", { uri: "t://row/7" });
    await two.result("resources/subscribe", { uri: "t://b" });
    for (const uri of ["t://a", "t://b", "t://row/7", "t://row/8"]) server.resourceUpdated(uri);
    await turn();
    expect(one.notices(UPDATED).map(({ params }) => params)).toEqual([{ uri: "t://a" }, { uri: "t://row/7" }]);
    expect(two.notices(UPDATED).map(({ params }) => params)).toEqual([{ uri: "t://b" }]);
    expect(await one.result("resources/unsubscribe", { uri: "t://a" })).toEqual({});
    expect(await one.result("resources/unsubscribe", { uri: "t://never" })).toEqual({});
    server.resourceUpdated("t://a");
    await turn();
    expect(one.notices(UPDATED)).toHaveLength(2);
  });

  it("need a resource that the caller may know of, and a string (RES-04)", async () => {
    const server = full().resource("t://secret", { visibleTo: () => false }, () => "");
    const client = await talk(server, "2025-11-25");
    for (const uri of ["t://nope", "t://secret", "t://row/%2e%2e"]) {
      expect((await client.ask("resources/subscribe", { uri })).error).toMatchObject({ code: -32002, data: { uri } });
    }
    expect((await client.ask("resources/subscribe", { uri: 5 })).error?.code).toBe(-32602);
    expect((await client.ask("resources/unsubscribe", {})).error?.code).toBe(-32602);
  });

  it("are bounded, and the refusal names the limit", async () => {
    const client = await talk(full({ limits: { subscriptions: 2 } }), "2025-11-25");
    for (const id of [1, 2]) await client.result("resources/subscribe", { uri: `t://row/${id}` });
    const { error } = await client.ask("resources/subscribe", { uri: "t://row/3" });
    expect(error).toMatchObject({ code: -32603, data: { limit: "subscriptions", value: 2 } });
    await client.result("resources/unsubscribe", { uri: "t://row/1" });
    await client.result("resources/subscribe", { uri: "t://row/3" });
  });

  it("end with the session, and do not exist where the server offers none", async () => {
    const gone: string[] = [];
    const server = full({ onUnsubscribe: (uri) => gone.push(uri) });
    const client = await talk(server, "2025-11-25");
    await client.result("resources/subscribe", { uri: "t://a" });
    client.close();
    await turn();
    expect(gone).toEqual(["t://a"]);
    const without = await talk(full({ subscribe: false, listChanged: false }), "2025-11-25");
    expect(without.heard[0]?.result.capabilities.resources).toEqual({});
    expect((await without.ask("resources/subscribe", { uri: "t://a" })).error?.code).toBe(-32601);
  });

  it("say nothing before the client is ready, and nothing that was not declared (RES-08)", async () => {
    const server = new Server({ name: "s", version: "1" }).tool("t", {}, () => "");
    const early = await talk(server, "2025-11-25");
    await turn();
    server.prompt("p", {}, () => "");
    server.tool("u", {}, () => "");
    const late = await talk(server, "2025-11-25");
    await late.result("tools/list");
    server.remove("prompt", "p");
    await turn();
    expect(early.heard.slice(1).map(({ method }) => method)).toEqual(["notifications/tools/list_changed"]);
    expect(late.notices("notifications/prompts/list_changed")).toHaveLength(1);
    // The last prompt is gone, and the empty list can still be read.
    expect((await late.result("prompts/list")).prompts).toEqual([]);
  });
});

describe("changes of lists", () => {
  it("are announced once for all changes in one turn (PROMPT-05, RES-08)", async () => {
    const server = full();
    const client = await talk(server, "2025-11-25");
    await client.result("tools/list");
    server.remove("tool", "t");
    server.tool("t", {}, () => "new").tool("u", {}, () => "");
    server.replace(
      tool("u", {}, () => "2"),
      prompt("p", {}, () => "2"),
      resource("t://a", {}, () => "2"),
    );
    await turn();
    expect(client.heard.slice(2).map(({ method }) => method)).toEqual([
      "notifications/tools/list_changed",
      "notifications/prompts/list_changed",
      "notifications/resources/list_changed",
    ]);
    server.listChanged("resources");
    await turn();
    expect(client.notices("notifications/resources/list_changed")).toHaveLength(2);
    expect(() => server.listChanged("toys" as never)).toThrow(/"toys" is not the name of a list/);
  });

  it("are not announced where the server does not declare it", async () => {
    const server = full({ listChanged: false });
    const client = await talk(server, "2025-11-25");
    expect(client.heard[0]?.result.capabilities).toMatchObject({
      tools: {},
      prompts: {},
      resources: { subscribe: true },
    });
    server.remove("tool", "t");
    await turn();
    expect(client.heard).toHaveLength(1);
  });

  it("can be declared before there is anything to list", async () => {
    const server = new Server({ name: "s", version: "1" }, { declare: ["tools", "prompts", "resources"] });
    const client = await talk(server, "2025-11-25");
    expect((await client.result("tools/list")).tools).toEqual([]);
    expect((await client.result("resources/templates/list")).resourceTemplates).toEqual([]);
    server.tool("t", {}, () => "");
    await turn();
    expect(client.notices("notifications/tools/list_changed")).toHaveLength(1);
  });
});

describe("listen requests", () => {
  const everything = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ["t://a", "t://row/1"],
  };

  it("are acknowledged first, with what is accepted, under their own id and its type (SUB-01, SUB-03, SUB-05)", async () => {
    const server = full();
    const client = await talk(server, "2026-07-28");
    for (const id of ["7", 7, ""]) {
      void client.ask("subscriptions/listen", { notifications: everything }, id);
      const ack = await client.until(({ method, params }) => method === ACK && idOf(params) === id);
      expect(ack.params?.["notifications"]).toEqual(everything);
    }
    server.remove("tool", "t");
    server.resourceUpdated("t://row/1");
    await turn();
    const changes = client.notices("notifications/tools/list_changed").map(({ params }) => idOf(params));
    expect(changes).toEqual(["7", 7, ""]);
    expect(client.notices(UPDATED).map(({ params }) => [params?.["uri"], idOf(params)])).toEqual([
      ["t://row/1", "7"],
      ["t://row/1", 7],
      ["t://row/1", ""],
    ]);
  });

  it("hear nothing that they did not ask for (SUB-02)", async () => {
    const server = full();
    const client = await talk(server, "2026-07-28");
    const wanted = { promptsListChanged: true, toolsListChanged: false, resourceSubscriptions: ["t://b"] };
    void client.ask("subscriptions/listen", { notifications: wanted });
    const ack = await client.until(({ method }) => method === ACK);
    expect(ack.params?.["notifications"]).toEqual({ promptsListChanged: true, resourceSubscriptions: ["t://b"] });
    server.remove("tool", "t");
    server.remove("resource", "t://a");
    server.resourceUpdated("t://a");
    server.log("error", "x");
    await turn();
    expect(client.heard).toHaveLength(1);
    server.remove("prompt", "p");
    server.resourceUpdated("t://b");
    await turn();
    expect(client.heard.slice(1).map(({ method }) => method)).toEqual([UPDATED, "notifications/prompts/list_changed"]);
  });

  it("leave out what the server does not serve, and what the caller cannot read (SUB-03)", async () => {
    const server = new Server({ name: "s", version: "1" }, { subscribe: false })
      .tool("t", {}, () => "")
      .resource("t://a", {}, () => "");
    const client = await talk(server, "2026-07-28");
    const unknown = { ...everything, taskIds: ["1"], other: true };
    void client.ask("subscriptions/listen", { notifications: unknown }, 1);
    const ack = await client.until(({ params }) => idOf(params) === 1);
    expect(ack.params?.["notifications"]).toEqual({ toolsListChanged: true, resourcesListChanged: true });
    const other = await talk(
      full().resource("t://no", { visibleTo: () => false }, () => ""),
      "2026-07-28",
    );
    const resourceSubscriptions = ["t://no", "t://nope", "t://a", "t://a"];
    void other.ask("subscriptions/listen", { notifications: { resourceSubscriptions } }, 1);
    void other.ask("subscriptions/listen", { notifications: { resourceSubscriptions: ["t://no"] } }, 2);
    const first = await other.until(({ params }) => idOf(params) === 1);
    expect(first.params?.["notifications"]).toEqual({ resourceSubscriptions: ["t://a"] });
    const second = await other.until(({ params }) => idOf(params) === 2);
    expect(second.params?.["notifications"]).toEqual({});
  });

  it("are refused when they are malformed, and unknown where nothing can be listened to (SUB-01)", async () => {
    const client = await talk(full(), "2026-07-28");
    const bad = [undefined, null, 5, [], "tools", { toolsListChanged: 1 }, { resourceSubscriptions: "t://a" }];
    for (const notifications of [...bad, { resourceSubscriptions: [5] }]) {
      expect((await client.ask("subscriptions/listen", { notifications })).error?.code).toBe(-32602);
    }
    const silent = new Server({ name: "s", version: "1" }, { listChanged: false }).tool("t", {}, () => "");
    const deaf = await talk(silent, "2026-07-28");
    expect((await deaf.ask("subscriptions/listen", { notifications: {} })).error?.code).toBe(-32601);
    expect(
      (await (await talk(full(), "2025-11-25")).ask("subscriptions/listen", { notifications: {} })).error?.code,
    ).toBe(-32601);
  });

  it("end when the client cancels, without an answer (SUB-07)", async () => {
    const gone: string[] = [];
    const server = full({ onUnsubscribe: (uri) => gone.push(uri) });
    const client = await talk(server, "2026-07-28");
    void client.ask("subscriptions/listen", { notifications: everything }, "x");
    await client.until(({ method }) => method === ACK);
    client.notify("notifications/cancelled", { requestId: "x" });
    await turn();
    expect(gone.sort()).toEqual(["t://a", "t://row/1"]);
    server.resourceUpdated("t://a");
    server.remove("tool", "t");
    await turn();
    expect(client.heard).toHaveLength(1);
    // The id is free again.
    void client.ask("subscriptions/listen", { notifications: everything }, "x");
    await client.until(({ method }) => method === ACK);
  });

  it("end with a result, and on a pipe a notice, when the server ends them (SUB-08, SUB-09)", async () => {
    const server = full();
    const client = await talk(server, "2026-07-28");
    const answers = [1, "two"].map((id) => client.ask("subscriptions/listen", { notifications: everything }, id));
    await client.until(({ params }) => idOf(params) === "two");
    await server.close();
    for (const [index, id] of [1, "two"].entries()) {
      expect((await answers[index])?.result).toMatchObject({ resultType: "complete", _meta: { [ID]: id } });
    }
    await client.until(({ params }) => params?.["requestId"] === "two");
    const order = client.heard.slice(2).map(({ id, params }) => id ?? params?.["requestId"]);
    expect(order).toEqual([1, "two", 1, "two"]);
    server.resourceUpdated("t://a");
    await turn();
    expect(client.notices(UPDATED)).toEqual([]);
    server.endSubscriptions();
  });

  it("are bounded per client and for the whole server, and the refusal names the limit", async () => {
    const server = full({ limits: { listensPerPeer: 2, listens: 3, subscriptions: 1 } });
    const one = await talk(server, "2026-07-28");
    const listen = (who: typeof one, id: number, notifications: object = {}) =>
      who.ask("subscriptions/listen", { notifications }, id);
    void listen(one, 1);
    void listen(one, 2);
    expect((await listen(one, 3)).error).toMatchObject({ data: { limit: "listensPerPeer", value: 2 } });
    const two = await talk(server, "2026-07-28");
    expect((await listen(two, 3, everything)).error).toMatchObject({ data: { limit: "subscriptions", value: 1 } });
    void listen(two, 1);
    await two.until(({ method }) => method === ACK);
    expect((await listen(two, 4)).error).toMatchObject({ data: { limit: "listens", value: 3 } });
    one.notify("notifications/cancelled", { requestId: 1 });
    await turn();
    void listen(two, 5);
    await two.until(({ params }) => idOf(params) === 5);
  });

  it("may have filter members of an extension, which announces their changes through the hub", async () => {
    const extension = { id: "com.example/x", settings: {}, listenFilters: ["jobs", "anything"] };
    const server = new Server({ name: "s", version: "1" }, { extensions: [extension], listChanged: false }).tool(
      "t",
      {},
      () => "",
    );
    const client = await talk(server, "2026-07-28");
    const notifications = { jobs: ["1", "2"], anything: true, other: ["3"], toolsListChanged: true };
    void client.ask("subscriptions/listen", { notifications }, 1);
    const ack = await client.until(({ method }) => method === ACK);
    expect(ack.params?.["notifications"]).toEqual({ jobs: ["1", "2"], anything: true });
  });
});

function idOf(params: Record<string, unknown> | undefined): unknown {
  return (params?.["_meta"] as Record<string, unknown> | undefined)?.[ID];
}
