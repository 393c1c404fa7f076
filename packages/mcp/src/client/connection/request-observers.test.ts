import { expect, it } from "vitest";
import { platform } from "../../platform/default.js";
import { observersOf } from "./request-observers.js";

it("a transport that throws is asked once, and its request has ended", async () => {
  const ended: string[] = [];
  const observers = observersOf(platform, {
    request: () => ({ within: (run) => run(), ended: ({ outcome }) => void ended.push(outcome) }),
  });
  const facts = { name: undefined, protocolVersion: undefined, sessionId: undefined, network: undefined };
  const started = {
    method: "ping",
    requestId: 1,
    callId: 1,
    attempt: 1,
    trace: undefined,
    target: "somewhere",
    ...facts,
  };
  let asked = 0;
  const request = () => {
    asked++;
    throw new Error("not connected");
  };
  const message = { id: 1, method: "ping", text: "{}" };
  const sent = async () => observers?.start(started).send(undefined, { request }, message);
  await expect(sent()).rejects.toThrow("not connected");
  expect(asked).toBe(1);
  expect(ended).toEqual(["error"]);
});
