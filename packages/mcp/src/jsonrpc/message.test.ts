import { describe, expect, it } from "vitest";
import { type ClassifiedMessage, classify, isId, parseInTurns, parseMessage } from "./message.js";

const request = (members: object) => ({ jsonrpc: "2.0", id: 1, method: "m", ...members });

describe("an id", () => {
  it("is a string or an integer, zero and the empty string included (BASE-02)", () => {
    for (const id of [0, -1, 7, Number.MAX_SAFE_INTEGER, "", "1", "x"]) expect(isId(id)).toBe(true);
    for (const id of [null, undefined, 1.5, Number.NaN, Number.POSITIVE_INFINITY, {}, [], true])
      expect(isId(id)).toBe(false);
  });

  it("beyond what a number holds exactly is refused, because it would come back changed (BASE-05)", () => {
    for (const id of ["9007199254740993", "9007199254740992", "-9007199254740993", "1e300"]) {
      expect(parseMessage(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toMatchObject({
        kind: "invalid",
        code: -32600,
        reason: expect.stringContaining("2^53"),
      });
    }
    expect(parseMessage('{"jsonrpc":"2.0","id":9007199254740991,"method":"ping"}').kind).toBe("request");
    expect(parseMessage('{"jsonrpc":"2.0","id":9007199254740993,"result":{}}').kind).toBe("invalid");
  });

  it("that is none makes a request invalid with -32600 (BASE-02)", () => {
    for (const id of [null, 1.5, {}, [1], true]) {
      expect(classify(request({ id }))).toMatchObject({ kind: "invalid", code: -32600 });
    }
  });
});

describe("an endless id", () => {
  it("is refused, so that it is not kept and repeated", () => {
    expect(classify(request({ id: "x".repeat(1024) })).kind).toBe("request");
    expect(classify(request({ id: "x".repeat(1025) }))).toMatchObject({ kind: "invalid", code: -32600 });
  });
});

describe("a message", () => {
  it("is what its exact member names say", () => {
    expect(classify(request({})).kind).toBe("request");
    expect(classify({ jsonrpc: "2.0", method: "m" }).kind).toBe("notification");
    expect(classify({ jsonrpc: "2.0", id: 1, result: {} }).kind).toBe("result");
    expect(classify({ jsonrpc: "2.0", id: 1, error: { code: 1, message: "x" } }).kind).toBe("error");
    expect(classify([]).kind).toBe("batch");
    for (const name of ["Method", "METHOD", "method\u0000", " method"]) {
      expect(classify({ jsonrpc: "2.0", id: 1, [name]: "tools/list" }).kind).toBe("invalid");
    }
  });

  it("needs the version, a string method and object params (BASE-01)", () => {
    expect(classify({ id: 1, method: "m" })).toMatchObject({ kind: "invalid", id: 1 });
    expect(classify(request({ jsonrpc: "1.0" })).kind).toBe("invalid");
    expect(classify(request({ method: 5 })).kind).toBe("invalid");
    expect(classify(request({ params: [1] }))).toMatchObject({ kind: "invalid", code: -32602, id: 1 });
    for (const value of [null, 1, "x", true]) expect(classify(value)).toMatchObject({ kind: "invalid", code: -32600 });
  });

  it("is a request or a response, and never both (BASE-06)", () => {
    for (const response of [{ result: {} }, { result: null }, { error: { code: 1, message: "x" } }]) {
      const both = { kind: "invalid", code: -32600, reason: expect.stringContaining("a request or a response") };
      expect(classify(request(response))).toEqual({ ...both, id: 1, answers: 1 });
      expect(classify({ jsonrpc: "2.0", method: "m", ...response })).toEqual(both);
    }
  });

  it("has exactly one of result and error (BASE-06)", () => {
    expect(classify({ jsonrpc: "2.0", id: 1 }).kind).toBe("invalid");
    expect(classify({ jsonrpc: "2.0", id: 1, result: {}, error: { code: 1, message: "x" } }).kind).toBe("invalid");
    expect(classify({ jsonrpc: "2.0", id: 1, result: undefined }).kind).toBe("result");
  });

  it("of an error may lack its id, and has an integer code and a text (BASE-07, BASE-08)", () => {
    expect(classify({ jsonrpc: "2.0", error: { code: -32700, message: "x" } }).kind).toBe("error");
    expect(classify({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "x" } }).kind).toBe("error");
    for (const error of [null, {}, { code: 1.5, message: "x" }, { code: 1 }, { code: 1, message: 2 }, "x"]) {
      expect(classify({ jsonrpc: "2.0", id: 1, error }).kind).toBe("invalid");
    }
  });

  it("that is no request is never answered, however malformed (BASE-09)", () => {
    expect(classify({ jsonrpc: "2.0", method: "notifications/cancelled", params: [1] })).toMatchObject({
      silent: true,
    });
    const error = { code: 1, message: "x" };
    for (const response of [{ result: {}, error }, { error: {} }, { id: {}, result: {} }, { id: {}, error }]) {
      const item = classify({ jsonrpc: "2.0", id: 1, ...response });
      expect(item).toMatchObject({ kind: "invalid", silent: true });
      // Whoever waits for the answer with this id learns that it cannot be read.
      expect(item).toEqual({ ...item, ...("id" in response ? {} : { id: 1, answers: 1 }) });
      expect("id" in item).toBe(!("id" in response));
    }
    expect(classify({ jsonrpc: "2.0", id: 1 })).not.toHaveProperty("silent");
  });

  it("keeps unknown members (BASE-11)", () => {
    const value = request({ params: { a: 1, "x-other": [1, { b: 2 }] }, extra: true });
    expect(classify(value)).toEqual({ kind: "request", message: value });
  });
});

describe("parsing", () => {
  it("answers -32700 for what is not JSON and never throws", () => {
    for (const text of ["", "{", "nul", "{'a':1}", "\u0000", "{} {}", "\ufeff{}"]) {
      expect(parseMessage(text)).toMatchObject({ kind: "invalid", code: -32700 });
    }
  });

  it("refuses what is nested deeper than 128 levels, and says so", () => {
    const nested = (depth: number) =>
      `{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
    expect(parseMessage(nested(120)).kind).toBe("request");
    expect(parseMessage(nested(200))).toMatchObject({
      kind: "invalid",
      code: -32600,
      id: 1,
      reason: expect.stringContaining("128"),
    });
    expect(parseMessage(nested(100_000)).kind).toBe("invalid");
  });

  it("refuses more than 100,000 values, and says so", () => {
    const wide = (count: number) =>
      `{"jsonrpc":"2.0","id":"w","method":"m","params":{"x":[${Array(count).fill("0").join(",")}]}}`;
    expect(parseMessage(wide(90_000)).kind).toBe("request");
    expect(parseMessage(wide(110_000))).toMatchObject({
      kind: "invalid",
      id: "w",
      reason: expect.stringContaining("100000"),
    });
  });
});

describe("a message that is parsed in turns", () => {
  /** Parses, and counts the turns. A short message is parsed between two turns, as that of another client would be. */
  function inTurns(text: string): { turns: number; message: ClassifiedMessage } {
    const waiting: (() => void)[] = [];
    let message: ClassifiedMessage | undefined;
    let turns = 0;
    parseInTurns(
      text,
      (run) => waiting.push(run),
      (parsed) => {
        message = parsed;
      },
    );
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      turns++;
      expect(parseMessage('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[1,2]}}').kind).toBe("request");
      next();
    }
    if (message === undefined) throw new Error("the message was not parsed");
    return { turns, message };
  }

  const long = (content: string, more = "") =>
    `{"jsonrpc":"2.0","id":1,"method":"m","params":{"long":"${"x".repeat(70_000)}","text":${content}}${more}}`;
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const texts = {
    plain: long(JSON.stringify("a".repeat(600_000))),
    escaped: long(JSON.stringify('a\n"é'.repeat(200_000))),
    objects: long(JSON.stringify(Array.from({ length: 5_000 }, (_, id) => ({ id, name: "x".repeat(100) })))),
    "too many values": long(`[${"1,".repeat(100_000)}1]`),
    "too deep": long(nested(200)),
    "too deep and not JSON": `${"[".repeat(70_000)}`,
    "a member twice": long('"a"', ',"id":2'),
    "a member twice, escaped": long('"a"', ',"\\u0069d":2'),
    "a member twice among many brackets": long(
      JSON.stringify(Array.from({ length: 500 }, () => ({}))),
      ',"method":"n"',
    ),
    "an infinite number": long("1e400"),
    "a batch": `[${long('"a"')},${long('"b"')}]`,
    "not JSON": `${long('"a"')}}`,
    "no object": JSON.stringify("a".repeat(10)),
    result: `{"jsonrpc":"2.0","id":1,"result":{"a":"${"b".repeat(70_000)}"}}`,
  };
  it.each(Object.entries(texts))("is classified as in one turn: %s", (_name, text) => {
    expect(inTurns(text).message).toEqual(parseMessage(text));
  });

  it("lets other work run between parsing, counting its values and looking for repeated members", () => {
    expect(inTurns(texts.escaped).turns).toBeGreaterThan(5);
    // Many brackets are scanned before `JSON.parse`, in parts.
    expect(inTurns(texts.objects).turns).toBeGreaterThan(inTurns(texts.plain).turns);
  });
});
