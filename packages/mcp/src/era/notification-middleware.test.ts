import { describe, expect, it } from "vitest";
import { Drive } from "../../test/server/drive.js";
import { Server } from "../server/server.js";
import { type NotificationMiddleware, passNotification, throughOutgoing } from "./notification-middleware.js";

const MESSAGE = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: 1 } } as const;

/** Passes one notification through middleware; returns the deliveries and the warnings. */
function pass(...stack: NotificationMiddleware[]) {
  const delivered: unknown[] = [];
  const warnings: string[] = [];
  const place = { direction: "incoming", about: 7 } as const;
  passNotification(
    stack,
    MESSAGE,
    place,
    (message) => delivered.push(message),
    (text) => warnings.push(text),
  );
  return { delivered, warnings };
}

describe("middleware of notifications", () => {
  it("runs outermost first, and passes on the same message unless it changes it", () => {
    const order: unknown[] = [];
    const named =
      (name: string): NotificationMiddleware =>
      ({ direction, about }, next) => {
        order.push(name, direction, about);
        next();
        order.push(`${name} after`);
      };
    const { delivered } = pass(named("a"), named("b"));
    expect(delivered[0]).toBe(MESSAGE);
    expect(order).toEqual(["a", "incoming", 7, "b", "incoming", 7, "b after", "a after"]);
    const changed = pass((_seen, next) => next({ params: { data: 2 } }));
    expect(changed.delivered).toEqual([{ jsonrpc: "2.0", method: MESSAGE.method, params: { data: 2 } }]);
    expect(pass((_seen, next) => next({})).delivered).toEqual([{ jsonrpc: "2.0", method: MESSAGE.method }]);
    expect(pass(() => {}).delivered).toEqual([]);
  });

  it("reports what goes wrong, and does not let it reach anybody else", async () => {
    const failing = pass(() => {
      throw new Error("boom");
    });
    expect(failing).toEqual({
      delivered: [],
      warnings: ["notification middleware for notifications/message failed: boom"],
    });
    const twice = pass((_seen, next) => {
      next();
      next();
    });
    expect(twice.delivered).toHaveLength(1);
    expect(twice.warnings).toEqual([expect.stringContaining("next() was called twice or too late")]);
    let kept: (() => void) | undefined;
    const thrown = pass((_seen, next) => {
      kept = next;
      throw new Error("boom");
    });
    expect(() => kept?.()).toThrow(/too late/);
    expect(thrown.delivered).toEqual([]);
    let late: unknown;
    const { delivered, warnings } = pass(async (_seen, next) => {
      await null;
      try {
        next();
      } catch (error) {
        late = error;
      }
      throw new Error("too late");
    });
    expect(warnings).toEqual([expect.stringContaining("for notifications/message returned a promise")]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings[1]).toContain("failed: too late");
    expect(late).toMatchObject({ kind: "misuse" });
    expect(delivered).toEqual([]);
  });

  it("does not see requests and answers, and sends what is unchanged as it was written", () => {
    const sent: string[] = [];
    const seen: string[] = [];
    const say = throughOutgoing(
      [
        ({ method }, next) => {
          seen.push(method);
          next();
        },
      ],
      1,
      (text) => sent.push(text),
      () => {},
    );
    const texts = [
      '{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}',
      '{"jsonrpc":"2.0","id":2,"result":{}}',
      '{ "jsonrpc": "2.0", "method": "notifications/x" }',
    ];
    for (const text of texts) say(text);
    expect(sent).toEqual(texts);
    expect(seen).toEqual(["notifications/x"]);
  });
});

describe("`useNotifications` of a server", () => {
  const server = () => new Server({ name: "s", version: "1" });

  it.each([undefined, null, 5, {}])("refuses %j", (wrong) => {
    expect(() => server().useNotifications(wrong as never)).toThrow(/middleware must be a function/);
  });

  it("refuses to be late", async () => {
    const served = server().tool("t", {}, () => "");
    await new Drive(served).call("t");
    expect(() => served.useNotifications((_seen, next) => next())).toThrow(/already in use/);
  });
});
