import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { describe, expect, it } from "vitest";
import { Drive } from "../../test/server/drive.js";
import { Server } from "../server/server.js";
import { publishDiagnostics } from "./diagnostics.js";

describe("diagnostics channels (B37)", () => {
  it("carry the start, the end and the refusal of calls until publishing ends", async () => {
    const server = new Server({ name: "s", version: "1" }).tool("t", {}, () => "");
    const stop = publishDiagnostics(server);
    const heard: [string | symbol, string][] = [];
    const listener = (event: unknown, name: string | symbol) =>
      void heard.push([name, (event as { method: string }).method]);
    const names = ["parley:call:start", "parley:call:end", "parley:call:refused"];
    for (const name of names) subscribe(name, listener);
    const drive = new Drive(server);
    await drive.call("t");
    await drive.send("no/such");
    stop();
    await drive.call("t");
    for (const name of names) unsubscribe(name, listener);
    expect(heard).toEqual([
      ["parley:call:start", "tools/call"],
      ["parley:call:end", "tools/call"],
      ["parley:call:refused", "no/such"],
    ]);
  });
});
