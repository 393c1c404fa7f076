import { type Client, connect, type Revision, Server } from "@parley/mcp";
import { parseRecording, type Recording, Redactor, replayedServer } from "@parley/mcp/recording";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { SessionRecorder } from "./session-recorder.js";

const ERAS: readonly Revision[] = ["2025-11-25", "2026-07-28"];

/** A server whose answers change, so that only a recording can repeat them. */
function counting(): Server {
  let count = 0;
  return new Server({ name: "counting", version: "3.2.1" }, { instructions: "Count.", pageSize: 1 })
    .tool("count", { input: z.object({ by: z.number() }) }, ({ by }) => {
      count += by;
      return `at ${count}`;
    })
    .tool("slow", {}, (_args, ctx) => {
      for (let step = 1; step <= 3; step++) ctx.progress(step, { total: 3, message: `step ${step}` });
      return "done";
    })
    .tool("greet", {}, async (_args, ctx) => {
      const { name } = await ctx.elicit("Who are you?", z.object({ name: z.string() }));
      return `Hello ${name}`;
    })
    .tool("unlock", { input: z.object({ password: z.string() }) }, ({ password }) => `opened with ${password.length}`)
    .resource("note://today", { name: "today" }, () => `read ${++count} times`);
}

async function session(client: Client): Promise<void> {
  expect(await client.call("count", { by: 1 })).toBe("at 1");
  expect(await client.call("count", { by: 1 })).toBe("at 2");
  await client.callTool("slow", {}, { onProgress: () => {} });
  expect(await client.call("greet")).toBe("Hello Ada");
  expect(await client.call("unlock", { password: "open sesame" })).toBe("opened with 11");
  await client.readResource("note://today");
}

const onElicit = () => ({ action: "accept" as const, content: { name: "Ada" } });

describe.each(ERAS)("a recording of %s", (recorded) => {
  let recording: Recording;

  beforeAll(async () => {
    const recorder = new SessionRecorder({
      target: { kind: "module", name: "counting" },
      redactor: new Redactor(),
      onNote: (note) => expect.unreachable(note),
    });
    await using client = await connect(counting(), { revisions: [recorded], onMessage: recorder.watch, onElicit });
    await client.allTools();
    await session(client);
    const text = recorder.text();
    expect(text).not.toContain("sesame");
    recording = parseRecording(text, "session.jsonl");
  });

  describe.each(ERAS)("for a client of %s", (revision) => {
    it("gives the server, its lists and its results again", async () => {
      const server = await replayedServer(recording);
      await using _ended = { [Symbol.asyncDispose]: () => server.close() };
      await using client = await connect(server, { revisions: [revision], onElicit });
      expect(client.serverInfo).toMatchObject({ name: "counting", version: "3.2.1" });
      expect(client.instructions).toBe("Count.");
      expect((await client.allTools()).map(({ name }) => name)).toEqual(["count", "slow", "greet", "unlock"]);
      await session(client);
      // The last answer stays.
      expect(await client.call("count", { by: 1 })).toBe("at 2");
      const { contents } = await client.readResource("note://today");
      expect(contents).toMatchObject([{ text: "read 3 times" }]);
    });

    it("gives progress and questions at their place", async () => {
      const server = await replayedServer(recording);
      await using _ended = { [Symbol.asyncDispose]: () => server.close() };
      const asked: unknown[] = [];
      const answer = (question: unknown) => {
        asked.push(question);
        return onElicit();
      };
      await using client = await connect(server, { revisions: [revision], onElicit: answer });
      const progress: unknown[] = [];
      await client.callTool("slow", {}, { onProgress: ({ message }) => progress.push(message) });
      expect(progress).toEqual(["step 1", "step 2", "step 3"]);
      await client.call("greet");
      expect(asked).toMatchObject([{ message: "Who are you?" }]);
    });

    it("refuses an unknown request and names the nearest", async () => {
      const server = await replayedServer(recording);
      await using _ended = { [Symbol.asyncDispose]: () => server.close() };
      await using client = await connect(server, { revisions: [revision] });
      await expect(client.callTool("count", { by: 7 })).rejects.toThrow(
        /no answer to tools\/call .*"by":7.*nearest recorded request is tools\/call \{"arguments":\{"by":1\},"name":"count"\}/,
      );
    });
  });
});
