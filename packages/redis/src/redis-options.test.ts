import { describe, expect, it } from "vitest";
import { checkRedisOptions, type RedisStorageOptions } from "./redis-options.js";

const url = "redis://127.0.0.1:6379";

describe("options of redisStorage", () => {
  it.each<[object, RegExp]>([
    [{}, /exactly one of `url`, `nodes` and `client`/],
    [{ url, nodes: [url] }, /exactly one of/],
    [{ url, host: "x" }, /"host" is not an option/],
    [{ url: "http://127.0.0.1" }, /not a Redis URL/],
    [{ url: "127.0.0.1:6379" }, /not a Redis URL/],
    [{ url: `${url}/first` }, /path of the URL is not the number/],
    [{ nodes: [] }, /not a list of URLs/],
    [{ client: {} }, /not a Redis client/],
    [{ url, prefix: "a{b}" }, /`prefix`/],
    [{ url, timeoutMs: 0 }, /`timeoutMs` is 0/],
    [{ url, connectMs: Number.NaN }, /`connectMs` is NaN/],
    [{ url, maxPending: Number.POSITIVE_INFINITY }, /`maxPending` is Infinity/],
  ])("refuse %j", (options, message) => {
    expect(() => checkRedisOptions(options as RedisStorageOptions)).toThrow(message);
  });

  it("never repeat a URL, which may hold a password", () => {
    for (const wrong of [
      "redis://u:secret@",
      "https://u:secret@h",
      "redis://u:secret@h:1/x",
      "redis://u:secret@h:99999",
    ]) {
      const error = (() => {
        try {
          return checkRedisOptions({ url: wrong });
        } catch (thrown) {
          return thrown;
        }
      })();
      expect(error).toBeInstanceOf(Error);
      expect(`${(error as Error).stack}${JSON.stringify(error)}`).not.toContain("secret");
    }
  });

  it("take URLs apart, and prefer what is given beside them", () => {
    const [server] = checkRedisOptions({ url: "rediss://us%40er:p%3Aw@[::1]:7000/3" }).servers;
    expect(server).toEqual({
      socket: { tls: true, host: "::1", port: 7000 },
      username: "us@er",
      password: "p:w",
      database: 3,
    });
    const [other] = checkRedisOptions({
      nodes: ["redis://a:b@h"],
      username: "c",
      password: "d",
      tls: { ca: "x" },
    }).servers;
    expect(other).toEqual({ socket: { ca: "x", tls: true, host: "h", port: 6379 }, username: "c", password: "d" });
  });

  it("refuse a percent sign that is no encoding without repeating it", () => {
    expect(() => checkRedisOptions({ url: "redis://u:%zz@h" })).toThrow(/not a Redis URL/);
  });
});
