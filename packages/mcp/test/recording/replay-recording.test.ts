import { type Client, connect, type Revision, Server } from "@parley/mcp";
import {
  parseRecording,
  type Recording,
  type ReplayClientOptions,
  type ReplayedRequest,
  type ReplayVerdict,
  replayRecording,
} from "@parley/mcp/recording";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { SessionRecorder } from "./session-recorder.js";

const ERAS: readonly Revision[] = ["2025-11-25", "2026-07-28"];

/** A server with a tool that changes nothing, one that asks, and one that may change something. */
function adding(sign: 1 | -1 = 1): Server {
  return new Server({ name: "adding", version: "1" }, { pageSize: 1 })
    .tool(
      "add",
      { input: z.object({ a: z.number(), b: z.number() }), annotations: { readOnlyHint: true } },
      ({ a, b }) => String(a + sign * b),
    )
    .tool("greet", { annotations: { readOnlyHint: true } }, async (_args, ctx) => {
      const { name } = await ctx.elicit("Who are you?", z.object({ name: z.string() }));
      return `Hello ${name}`;
    })
    .tool("erase", {}, () => "erased");
}

describe.each(ERAS)("a recording of %s", (recorded) => {
  let recording: Recording;
  beforeAll(async () => {
    const recorder = new SessionRecorder({ target: { kind: "module", name: "adding" } });
    await using client = await connect(adding(), {
      revisions: [recorded],
      onMessage: recorder.watch,
      onElicit: () => ({ action: "accept", content: { name: "Ada" } }),
    });
    await client.allTools();
    await client.call("add", { a: 2, b: 1 });
    await client.call("greet");
    await client.call("erase");
    recording = parseRecording(recorder.text(), "s.jsonl");
  });

  const shortly = (verdicts: readonly ReplayVerdict[]) =>
    verdicts.map(({ params, verdict, reason }) => [params["name"] ?? "list", verdict, reason]);

  describe.each(ERAS)("sent to a server of %s", (revision) => {
    const against = (server: Server) => (options: ReplayClientOptions) =>
      connect(server, { ...options, revisions: [revision] });

    it("finds the same answers, and skips what may change something", async () => {
      const told: ReplayVerdict[] = [];
      const onVerdict = (verdict: ReplayVerdict) => void told.push(verdict);
      const begun: ReplayedRequest[] = [];
      const onRequest = (request: ReplayedRequest) => {
        expect(told).toHaveLength(request.number - 1);
        begun.push(request);
      };
      const verdicts = await replayRecording(recording, against(adding()), { onRequest, onVerdict });
      expect(begun.map(({ method, params }) => ({ method, params }))).toEqual(
        verdicts.map(({ method, params }) => ({ method, params })),
      );
      expect(begun.map(({ number, total }) => `${number} of ${total}`)).toEqual([
        "1 of 4",
        "2 of 4",
        "3 of 4",
        "4 of 4",
      ]);
      expect(shortly(verdicts)).toEqual([
        ["list", "same", undefined],
        ["add", "same", undefined],
        ["greet", "same", undefined],
        ["erase", "skipped", "may_change"],
      ]);
      expect(told).toEqual(verdicts);
    });

    it("tells what is different, unless it is ignored, and calls every tool if asked to", async () => {
      const changed = await replayRecording(recording, against(adding(-1)), { all: true });
      expect(shortly(changed).map(([name, verdict]) => `${name} ${verdict}`)).toEqual([
        "list same",
        "add different",
        "greet same",
        "erase same",
      ]);
      expect(changed[1]?.differences).toContainEqual({ path: "content.0.text", recorded: "3", now: "1" });
      const ignored = await replayRecording(recording, against(adding(-1)), { ignore: ["content.*.text"] });
      expect(ignored[1]?.verdict).toBe("same");
    });

    it("closes the client, also when it is aborted", async () => {
      const opened: Client[] = [];
      const abort = new AbortController();
      const replaying = replayRecording(
        recording,
        async (options) => {
          const client = await against(adding())(options);
          opened.push(client);
          return client;
        },
        { signal: abort.signal, onVerdict: () => abort.abort(new Error("enough")) },
      );
      await expect(replaying).rejects.toThrow("enough");
      expect(opened.map(({ state }) => state)).toEqual(["closed"]);
    });
  });

  it("passes on what the functions of the program throw", async () => {
    const failed = () => Promise.reject(new Error("no terminal"));
    const open = (options: ReplayClientOptions) => connect(adding(), options);
    await expect(replayRecording(recording, open, { onVerdict: failed })).rejects.toThrow("no terminal");
    await expect(replayRecording(recording, failed)).rejects.toThrow("no terminal");
  });

  it("is not sent at all if it has no request", async () => {
    const empty = { ...recording, messages: recording.messages.slice(0, 2) };
    const open = () => expect.unreachable("it connected");
    await expect(replayRecording(empty, open)).rejects.toMatchObject({ kind: "invalid_definition" });
  });
});
