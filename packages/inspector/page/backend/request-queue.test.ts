import { describe, expect, test } from "vitest";
import { queueRequest } from "./request-queue.js";

/** Requests that were sent, each with what answers it. */
function requests() {
  const answers = new Map<string, () => void>();
  const send = (name: string) => () =>
    new Promise<string>((resolve) => {
      answers.set(name, () => resolve(name));
    });
  return {
    ask: (server: string, name: string) => queueRequest(server, name, send(name)),
    sent: () => [...answers.keys()],
    async answer(...names: readonly string[]) {
      for (const name of names) answers.get(name)?.();
      // What follows an answer is sent some promises later.
      await new Promise((resolve) => setTimeout(resolve));
    },
  };
}

describe("takeTurn", () => {
  test("sends two requests of a server at once, and the next when one is answered", async () => {
    const { ask, sent, answer } = requests();
    const results = ["a1", "a2", "a3"].map((name) => ask("a", name));
    expect(sent()).toEqual(["a1", "a2"]);
    await answer("a2");
    expect(sent()).toEqual(["a1", "a2", "a3"]);
    await answer("a1", "a3");
    expect(await Promise.all(results)).toEqual(["a1", "a2", "a3"]);
  });

  test("lets a server that does not answer hold up no other, and four in all", async () => {
    const { ask, sent, answer } = requests();
    for (const name of ["a1", "a2", "a3"]) void ask("a", name);
    for (const name of ["b1", "b2"]) void ask("b", name);
    void ask("c", "c1");
    expect(sent()).toEqual(["a1", "a2", "b1", "b2"]);
    await answer("b1");
    expect(sent()).toEqual(["a1", "a2", "b1", "b2", "c1"]);
    await answer("a1", "a2", "b2", "c1");
    await answer("a3");
  });

  test("sends a request once that is asked for again before its turn", async () => {
    const { ask, sent, answer } = requests();
    for (const name of ["a1", "a2"]) void ask("a", name);
    const [first, second] = [ask("a", "a3"), ask("a", "a3")];
    await answer("a1", "a2");
    expect(sent()).toEqual(["a1", "a2", "a3"]);
    await answer("a3");
    expect([await first, await second]).toEqual(["a3", "a3"]);
  });

  test("goes on after a failure", async () => {
    const failing = ["x1", "x2"].map((key) => queueRequest("x", key, () => Promise.reject(new Error(key))));
    const after = queueRequest("x", "x3", async () => "sent");
    expect(await Promise.allSettled(failing)).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
    expect(await after).toBe("sent");
  });
});
