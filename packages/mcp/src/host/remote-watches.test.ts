import { describe, expect, it } from "vitest";
import { connect } from "../client/connect.js";
import { Server } from "../server/server.js";
import { RemoteWatches } from "./hosted-server.js";

describe("watches of resources", () => {
  it("end once, whoever watches the same since", async () => {
    const server = new Server({ name: "a", version: "1" }).resource("note://one", {}, () => "");
    const [before, after] = await Promise.all([connect(server), connect(server)]);
    const watches = new RemoteWatches();
    // Safe: a watch calls no tool, and the types of tools are all that differs.
    watches.follow(before as never);
    let told = 0;
    const end = watches.add("note://one", () => {});
    end();
    watches.add("note://one", () => told++);
    end();
    // Whatever changed before a new connection may have been missed.
    watches.follow(after as never);
    expect(told).toBe(1);
    watches.close();
    await Promise.all([before.close(), after.close()]);
  });
});
