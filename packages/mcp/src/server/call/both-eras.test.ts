import { expect, it } from "vitest";
import { meta, talk } from "../../../test/server/talk.js";
import { Server } from "../server.js";

it("a request of 2026-07-28 on a pipe that also did `initialize` has no session and only its own facts (BASE-25)", async () => {
  const server = new Server({ name: "s", version: "1" }).tool(
    "t",
    {},
    (_args, { session, client, protocolVersion }) => ({
      session: session !== undefined,
      client: client.info?.name ?? null,
      elicits: client.can("elicitation.form"),
      protocolVersion,
    }),
  );
  const pipe = await talk(server as Server, "2025-11-25");
  const said = async (params: object) =>
    JSON.parse((await pipe.result("tools/call", { name: "t", ...params })).content[0].text) as object;
  expect(await said({})).toMatchObject({ session: true, client: expect.any(String), protocolVersion: "2025-11-25" });
  expect(await said({ _meta: meta("2026-07-28") })).toEqual({
    session: false,
    client: null,
    elicits: false,
    protocolVersion: "2026-07-28",
  });
  pipe.close();
});
