import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

export default scenario({
  name: "a client hears what is logged from the level that it names, before the answer",
  ids: ["LOG-02", "LOG-03", "LOG-05"],
  server: () =>
    new Server({ name: "chatty", version: "1" }).tool("talk", {}, (_args, ctx) => {
      for (const level of LEVELS) ctx.log(level, { about: level }, "tool");
      return "done";
    }),
  async run({ connect }) {
    const heard: string[] = [];
    const client = await connect({
      onLog: ({ level, logger, data }) => heard.push(`${level} ${logger} ${JSON.stringify(data)}`),
    });
    for (const [index, level] of LEVELS.entries()) {
      await client.setLogLevel(level);
      heard.length = 0;
      expect(await client.call("talk")).toBe("done");
      expect(heard).toEqual(LEVELS.slice(index).map((one) => `${one} tool {"about":"${one}"}`));
    }
  },
});
