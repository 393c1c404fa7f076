import { describe, expect, it } from "vitest";
import { Drive, itemsOf } from "../../../test/server/drive.js";
import type { CallEnded } from "../contract/observer.js";
import { Server } from "../server.js";

const info = { name: "s", version: "1" };

describe("a call to a mounted server", () => {
  it("has one progress that only increases, whoever reports it (PROG-03)", async () => {
    const inner = new Server(info).tool("t", {}, (_args, ctx) => {
      for (const step of [1, 2, 60]) ctx.progress(step);
      return "";
    });
    const outer = new Server(info).mount("in", inner).use(async (call, next) => {
      call.ctx.progress(50);
      const result = await next();
      call.ctx.progress(100);
      return result;
    });
    const drive = new Drive(outer, { meta: { progressToken: "p" } });
    await drive.call("in_t");
    expect(drive.said.map(({ params }) => params?.["progress"])).toEqual([50, 60, 100]);
  });

  it("is seen by the observers of both servers", async () => {
    const seen: [string, CallEnded][] = [];
    const inner = new Server(info)
      .tool("ok", {}, () => "fine")
      .tool("fails", {}, () => {
        throw new Error("no");
      })
      .resource("a://b", {}, () => {
        throw new Error("no");
      })
      .tool("asks", {}, async (_args, ctx) => {
        await ctx.elicit("ok?", { type: "object", properties: { ok: { type: "boolean" } } });
        return "";
      });
    const outer = new Server(info, { onError: () => {} }).mount("in", inner);
    inner.observe({ ended: (call) => void seen.push(["inner", call]) });
    outer.observe({ ended: (call) => void seen.push(["outer", call]) });
    const drive = new Drive(outer, { capabilities: { elicitation: {} } });
    const ends = async (act: () => Promise<unknown>) => {
      seen.length = 0;
      await act();
      return seen.map(([who, { name, outcome, failure }]) => [who, name, outcome, failure]);
    };
    expect(await ends(() => drive.call("in_ok"))).toEqual([
      ["inner", "ok", "ok", undefined],
      ["outer", "in_ok", "ok", undefined],
    ]);
    expect(await ends(() => drive.call("in_fails"))).toEqual([
      ["inner", "fails", "tool_error", "handler_error"],
      ["outer", "in_fails", "tool_error", "handler_error"],
    ]);
    expect(await ends(() => drive.send("resources/read", { uri: "in+a://b" }))).toEqual([
      ["inner", "a://b", "error", "handler_error"],
      ["outer", "in+a://b", "error", "handler_error"],
    ]);
    expect(await ends(() => drive.call("in_asks"))).toEqual([
      ["inner", "asks", "input_required", undefined],
      ["outer", "in_asks", "input_required", undefined],
    ]);
  });

  it("yields to what the outer server registers itself: resources, templates and their completion too", async () => {
    const named = (who: string) =>
      new Server(info)
        .resource("file:///a", {}, () => who)
        .resourceTemplate("city://{name}", { complete: { name: [who] } }, () => who);
    const outer = new Server(info)
      .resource("docs+file:///a", {}, () => "own")
      .resourceTemplate("docs+city://{name}", { complete: { name: ["own"] } }, () => "own")
      .mount("docs", named("mounted"));
    const drive = new Drive(outer);
    for (const uri of ["docs+file:///a", "docs+city://oslo"]) {
      const read = await drive.send("resources/read", { uri });
      expect([uri, itemsOf(read, "contents")[0]?.["text"]]).toEqual([uri, "own"]);
    }
    const completed = await drive.send("completion/complete", {
      ref: { type: "ref/resource", uri: "docs+city://{name}" },
      argument: { name: "name", value: "" },
    });
    expect(completed.result?.["completion"]).toMatchObject({ values: ["own"] });
  });
});

describe("closing a server", () => {
  it("calls every closer, also when another part fails to close", async () => {
    let terminated = 0;
    const handler = { listTools: () => [], callTool: () => "", terminate: () => void terminated++ };
    const storage = new Proxy(
      {},
      { get: (_target, name) => (name === "then" ? undefined : () => Promise.reject(new Error("storage is down"))) },
    );
    const server = Server.from(handler, info, { storage: storage as never, platform: { warn: () => {} } });
    await new Drive(server).send("tools/list");
    await server.close().catch(() => {});
    expect(terminated).toBe(1);
  });
});
