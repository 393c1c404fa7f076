import type { FoundOffer, Server, Source } from "@parley/mcp";
import { emptyServer, type Failing, outcome, type Trial, withClient } from "./trial.js";

const entry = { name: "t", inputSchema: { type: "object" } } as const;
const row = { uri: "r://a", name: "a" };

const source = (members: Partial<Source>): Source => ({
  capabilities: () => ({ tools: {}, resources: {}, completions: {} }),
  list: (kind) => (kind === "tools" ? [entry] : kind === "resources" ? [row] : []),
  find: () => ({ run: () => ({ content: [], contents: [] }) }),
  ...members,
});

const serving =
  (member: keyof Source, work: Parameters<typeof withClient>[2]): Trial =>
  async (fail) => {
    let server: Server | undefined;
    const made = await outcome(() => {
      server = emptyServer({ sources: [source({ [member]: fail })] });
    });
    return server === undefined ? made : withClient(server, {}, work);
  };

const finding =
  (made: (fail: Failing) => Partial<FoundOffer>, work: Parameters<typeof withClient>[2]): Trial =>
  (fail) => {
    const find = () => ({ run: () => ({ content: [] }), ...made(fail) });
    return withClient(emptyServer({ sources: [source({ find })] }), {}, work);
  };

const soon = () => new Promise((resolve) => setTimeout(resolve, 50));
const complete = { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } } as const;

/** Functions of sources that somebody waits for. */
export const SOURCE_ANSWER_TRIALS: Readonly<Record<string, readonly [trial: Trial, ended: string]>> = {
  "Source.capabilities": [serving("capabilities", () => "never"), "error invalid_definition"],
  "Source.onChange": [serving("onChange", () => "never"), "error invalid_definition"],
  "Source.list": [serving("list", (client) => client.listTools()), "error internal_error"],
  "Source.page": [serving("page", (client) => client.listTools()), "error internal_error"],
  "Source.find": [serving("find", (client) => client.callTool("t")), "error internal_error"],
  "Source.find, run": [
    finding(
      (fail) => ({ run: fail }),
      (client) => client.callTool("t"),
    ),
    "error internal_error",
  ],
  "Source.find, complete": [
    finding(
      (fail) => ({ complete: fail }),
      (client) => client.request("completion/complete", complete),
    ),
    "error internal_error",
  ],
  "Source.close": [
    (fail) => outcome(() => emptyServer({ sources: [source({ close: fail })] }).close()),
    "bare Error: boom",
  ],
};

const subscribing = (server: Server) =>
  withClient(server, {}, async (client) => {
    const subscription = await client.subscribe("r://a");
    await soon();
    await subscription[Symbol.asyncDispose]();
  });

/** Functions of sources whose failure is reported. */
export const SOURCE_HOOK_TRIALS: Readonly<Record<string, Trial>> = {
  "Source.instructions": serving("instructions", async (client) => {
    await soon();
    return client.listTools();
  }),
  "Source.watchOf": (fail) => subscribing(emptyServer({ sources: [source({ watchOf: fail })] })),
  "Source.onChange, its end": async (fail) => {
    const server = emptyServer({ sources: [source({ onChange: () => fail })] });
    return outcome(() => server.close());
  },
};
