import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

function busy() {
  const server = new Server({ name: "busy", version: "1" }).tool("work", {}, () => {
    server.log("warning", "disk is filling", "disk");
    server.log("error", "disk is full", "disk");
    return "done";
  });
  return server;
}

export default scenario({
  name: "what the server itself logs reaches every session at its own level",
  ids: ["LOG-03"],
  server: busy,
  except: {
    "gateway-stateful":
      "a pipe does not say that a message belongs to no call, so that the caller of the only one in flight gets it",
    "gateway-stateless": "a server without sessions has nobody to tell outside of a request",
    stateless: "log messages belong to a request there, and there is no session that could hear others",
    stdio: "each client has a server process of its own there",
  },
  async run({ connect }) {
    const heard: unknown[][] = [[], []];
    const loud = await connect({ onLog: ({ data }) => heard[0]?.push(data) });
    const quiet = await connect({ onLog: ({ data }) => heard[1]?.push(data) });
    await quiet.setLogLevel("error");
    await loud.call("work");
    await expect.poll(() => heard).toEqual([["disk is filling", "disk is full"], ["disk is full"]]);
  },
});
