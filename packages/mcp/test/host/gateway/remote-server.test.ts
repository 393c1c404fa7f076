import { connect, Server } from "@parley/mcp";
import { remoteServer } from "@parley/mcp/host";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { NEWEST_STATEFUL, NEWEST_STATELESS } from "../../../src/protocol/revisions.js";

const ERAS = [NEWEST_STATEFUL, NEWEST_STATELESS] as const;
const COMBINATIONS = ERAS.flatMap((front) => ERAS.map((behind) => [front, behind] as const));

function github() {
  const server = new Server({ name: "github", version: "3" }, { instructions: "Be brief." })
    .tool("merge", {}, async (_args, ctx) => {
      ctx.progress(1, { total: 2, message: "asking" });
      const { sure } = await ctx.elicit("Sure?", z.object({ sure: z.boolean() }));
      return sure ? "merged" : "left";
    })
    .tool("touch", {}, () => {
      server.resourceUpdated("repo://a");
      return "touched";
    })
    .tool("grow", {}, () => {
      server.tool("more", {}, () => "more");
      return "grown";
    })
    .resource("repo://a", {}, () => "the readme");
  return server;
}

describe.each(COMBINATIONS)("a client of %s, a server of %s", (front, behind) => {
  const options = { client: { revisions: [behind] } };

  it("mounts a remote server, and passes questions, progress, resources and changes on", async () => {
    const remote = await remoteServer(github(), options);
    const outer = new Server({ name: "outer", version: "1" }).mount("gh", remote);
    const client = await connect(outer, {
      revisions: [front],
      onElicit: () => ({ action: "accept", content: { sure: true } }),
    });
    const progress: unknown[] = [];
    const call = client.callTool as (name: string, args: object, options: object) => Promise<{ content: unknown }>;
    const merged = await call.call(client, "gh_merge", {}, { onProgress: (one: object) => progress.push(one) });
    expect(merged.content).toEqual([{ type: "text", text: "merged" }]);
    // Where a question is part of a result, the handler runs once more with the answer.
    expect(progress[0]).toMatchObject({ progress: 1, total: 2, message: "asking" });
    expect((await client.readResource("gh+repo://a")).contents).toMatchObject([
      { uri: "gh+repo://a", text: "the readme" },
    ]);
    const changes = await client.subscribe("gh+repo://a");
    const next = changes[Symbol.asyncIterator]().next();
    await client.callTool("gh_touch" as never);
    expect((await next).value).toMatchObject({ kind: "resource", uri: "gh+repo://a" });
    await client.callTool("gh_grow" as never);
    const names = async () => (await client.allTools({ cache: false })).map(({ name }) => name);
    await expect.poll(names).toContain("gh_more");
    await client.close();
    await remote.close();
  });

  it("serves a remote server under its own name and names", async () => {
    const remote = await remoteServer(github(), options);
    const client = await connect(remote, { revisions: [front] });
    expect(client.serverInfo).toMatchObject({ name: "github", version: "3" });
    expect(client.instructions).toBe("Be brief.");
    expect((await client.allTools()).map(({ name }) => name)).toContain("merge");
    await client.close();
    await remote.close();
    const late = connect(remote, { revisions: [front] }).then((again) => again.allTools());
    await expect(late).rejects.toThrow();
  });
});

describe("a remote server that does not start", () => {
  it("is said at once", async () => {
    const broken = {
      endpoint() {
        throw new Error("broken");
      },
    };
    await expect(remoteServer(broken as never, { startWaitMs: 100 })).rejects.toThrow();
  });

  it("is refused with options that do not exist", async () => {
    await expect(remoteServer(github(), { nope: 1 } as never)).rejects.toMatchObject({ kind: "invalid_definition" });
  });
});
