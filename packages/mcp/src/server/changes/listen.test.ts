import { expect, it } from "vitest";
import { meta, turn } from "../../../test/server/talk.js";
import type { Answer, Exchange } from "../../transport/transport.js";
import { Server } from "../server.js";

const ID = "io.modelcontextprotocol/subscriptionId";

/** A request over a transport that has no peer: every request stands alone, as over HTTP. */
function alone(server: Server, id: string, onSay: (controller: AbortController) => void = () => {}) {
  const controller = new AbortController();
  const said: string[] = [];
  const exchange: Exchange = {
    id,
    signal: controller.signal,
    send(text) {
      said.push(text);
      onSay(controller);
    },
  };
  const params = { _meta: meta("2026-07-28"), notifications: { toolsListChanged: true } };
  const endpoint = server.endpoint();
  const message = { jsonrpc: "2.0" as const, id, method: "subscriptions/listen", params };
  const answer = endpoint.request(endpoint.accept(message), exchange);
  return { said, controller, answer: Promise.resolve<Answer>(answer) };
}

const server = () => new Server({ name: "s", version: "1" }).tool("t", {}, () => "");

it("a transport that shuts down aborts a listen request and still delivers its result (SUB-08)", async () => {
  const made = server();
  const { said, controller, answer } = alone(made, "a");
  made.remove("tool", "t");
  await turn();
  expect(said).toHaveLength(2);
  controller.abort(new Error("the server is closing"));
  expect(JSON.parse((await answer).text)).toMatchObject({
    id: "a",
    result: { resultType: "complete", _meta: { [ID]: "a" } },
  });
  made.listChanged("tools");
  await turn();
  expect(said).toHaveLength(2);
});

it("without a pipe the end is a result alone (SUB-08, SUB-09)", async () => {
  const made = server();
  const { said, answer } = alone(made, "a");
  made.endSubscriptions();
  expect((await answer).text).toContain(`"${ID}":"a"`);
  await turn();
  expect(said).toHaveLength(1);
});

it("a listen request whose transport fails during the acknowledgment leaves nothing behind", async () => {
  const made = server();
  const one = alone(made, "a", (controller) => controller.abort());
  expect((await one.answer).text).toContain(`"${ID}":"a"`);
  made.remove("tool", "t");
  await turn();
  expect(one.said).toHaveLength(1);
});

it("a listen request that was cancelled before it started ends at once", async () => {
  const made = server();
  const controller = new AbortController();
  controller.abort();
  const said: string[] = [];
  const exchange = { id: 1, signal: controller.signal, send: (text: string) => void said.push(text) };
  const params = { _meta: meta("2026-07-28"), notifications: { toolsListChanged: true } };
  const message = { jsonrpc: "2.0" as const, id: 1, method: "subscriptions/listen", params };
  const endpoint = made.endpoint();
  expect((await endpoint.request(endpoint.accept(message), exchange)).text).toContain(`"${ID}":1`);
});
