import { Server, type ServerOptions, type Source, tool } from "@parley/mcp";
import { quotas } from "@parley/mcp/limits";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { link } from "../../src/server/tools/content.js";
import { Drive, textOf } from "./drive.js";

const INFO = { name: "s", version: "1" };
const turn = () => new Promise((resolve) => setImmediate(resolve));

const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => void process.on("unhandledRejection", note));
afterEach(() => {
  process.off("unhandledRejection", note);
  unhandled.length = 0;
});

/** A server with one source, which finds by `find` and lists nothing. */
function finding(find: NonNullable<Source["find"]>, options: ServerOptions = {}) {
  const source: Source = {
    capabilities: () => ({ tools: {}, resources: { subscribe: true } }),
    list: () => [],
    find,
    watchOf: () => () => () => {},
  };
  return new Server(INFO, { onError: () => {}, ...options, sources: [source] });
}

const down = () => Promise.reject(new Error("the database is down"));
const rate = { calls: 1, perMs: 60_000 };

describe("a source that takes time to find an offer", () => {
  it("is asked once for each call of a server with quotas, and its failure is the answer", async () => {
    let asked = 0;
    const server = finding(
      () => {
        asked++;
        return down();
      },
      { quotas: quotas({ perPrincipal: { rate: { calls: 5, perMs: 60_000 } } }) },
    );
    const { error } = await new Drive(server).call("x");
    await turn();
    expect(error?.message).toContain("the database is down");
    expect([asked, unhandled]).toEqual([1, []]);
  });

  it("is not asked for calls that a quota of the caller refuses", async () => {
    let asked = 0;
    const found = tool("x", {}, () => "x");
    const server = finding(
      async () => {
        asked++;
        return found;
      },
      { quotas: quotas({ perPrincipal: { rate } }) },
    );
    const drive = new Drive(server, { principal: { key: "a" } });
    expect(textOf(await drive.call("x"))).toBe("x");
    for (let call = 0; call < 3; call++) expect((await drive.call("x")).result?.isError).toBe(true);
    expect(asked).toBe(1);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["rejects", down],
    [
      "gives a rate that cannot be meant",
      async () => ({ rate: { calls: -1, perMs: 1 }, run: () => ({ content: [] }) }),
    ],
  ])("frees the place of a call when it %s", async (_how, find) => {
    const server = finding(find, { quotas: quotas({ perPrincipal: { calls: 1 } }) }).tool("own", {}, () => "own");
    const drive = new Drive(server, { principal: { key: "a" } });
    for (let call = 0; call < 2; call++) expect((await drive.call("x")).error).toBeDefined();
    expect(textOf(await drive.call("own"))).toBe("own");
  });

  it.each(["alone", "mounted"])("can have tools with a rate, %s", async (where) => {
    let asked = 0;
    const rare = tool("rare", { rate }, () => "rare");
    const server = finding(
      async () => {
        asked++;
        return rare;
      },
      { quotas: quotas() },
    );
    const [outer, name] = where === "alone" ? [server, "rare"] : [new Server(INFO).mount("in", server), "in_rare"];
    const drive = new Drive(outer);
    expect(textOf(await drive.call(name))).toBe("rare");
    expect((await drive.call(name)).result?.isError).toBe(true);
    expect(asked).toBe(2);
  });

  it("leaves one subscription of a client that subscribes twice at once", async () => {
    const server = finding(async () => ({ run: () => ({ contents: [] }) }));
    const drive = new Drive(server, { revision: "2025-11-25" });
    const subscribe = () => drive.send("resources/subscribe", { uri: "a://b" });
    await Promise.all([subscribe(), subscribe()]);
    expect(drive.peer.session?.subscriptions).toEqual(["a://b"]);
  });

  it("may fail for one resource of a listen that is refused for another", async () => {
    const server = finding(down).resource("c://d", { scopes: ["z"] }, () => "");
    const drive = new Drive(server, { principal: { key: "a" } });
    const notifications = { resourceSubscriptions: ["a://b", "c://d"] };
    const { error } = await drive.send("subscriptions/listen", { notifications });
    await turn();
    expect(error?.message).toContain("needs the scope z");
    expect(unhandled).toEqual([]);
  });

  it("may fail for a link in the result of a mounted tool", async () => {
    const inner = finding(down).tool("links", {}, () => [link("a://b")]);
    const { result } = await new Drive(new Server(INFO).mount("in", inner)).call("in_links");
    await turn();
    expect(result?.content?.[0]?.uri).toBe("in+a://b");
    expect(unhandled).toEqual([]);
  });
});

it("a server with offers of a source alone needs a session only if the source does", () => {
  const needs = (sessionless: boolean) => {
    const source: Source = { capabilities: () => ({ tools: {} }), list: () => [], sessionless };
    return new Server(INFO, { sources: [source] }).endpoint().sessionless?.() === false;
  };
  expect([needs(true), needs(false)]).toEqual([false, true]);
});
