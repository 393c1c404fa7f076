import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a client without what a tool requires is refused before anything runs",
  ids: ["MRTR-04", "ELIC-02"],
  server: () =>
    new Server({ name: "needy", version: "1" }).tool(
      "ask",
      { requires: ["elicitation.form", "sampling"] },
      () => "asked",
    ),
  except: {
    "gateway-stateful/stateless":
      "a server with sessions tells the model in a result, because its revisions have no code for it",
  },
  async run({ connect, era }) {
    const unable = await connect();
    if (era === "stateless") {
      await expect(unable.callTool("ask")).rejects.toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { elicitation: { form: {} }, sampling: {} } },
      });
    } else {
      expect((await unable.callTool("ask")).isError).toBe(true);
    }
    const able = await connect({
      onElicit: () => ({ action: "cancel" }),
      onSample: () => ({ role: "assistant", model: "m", content: { type: "text", text: "" } }),
    });
    expect(await able.call("ask")).toBe("asked");
  },
});
