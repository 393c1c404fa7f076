import { describe, expect, it } from "vitest";
import { McpError } from "../../../protocol/error.js";
import { originGuard, parseAuthority } from "./origin.js";

describe("the guard of Host and Origin (SEC-01)", () => {
  it("lets only loopback names pass by default", () => {
    const guard = originGuard({});
    for (const host of ["localhost", "localhost:1", "127.0.0.1:65535", "[::1]:3000", "LOCALHOST"]) {
      expect(guard.host(host), host).toBe(true);
    }
    for (const host of ["", "example.com", "localhost.", "127.1", "localhost:65536", " localhost", "localhost\t"]) {
      expect(guard.host(host), host).toBe(false);
    }
    expect(guard.origin("http://localhost:5173")).toBe(true);
    expect(guard.origin("http://example.com")).toBe(false);
    expect(guard.beyondLoopback).toBe(false);
  });

  it("takes Host and Origin from the public address, with and without the scheme's own port", () => {
    const guard = originGuard({ publicUrl: "https://Example.com/mcp" });
    expect(guard.host("example.com")).toBe(true);
    expect(guard.host("example.com:443")).toBe(true);
    expect(guard.host("example.com:80")).toBe(false);
    expect(guard.host("sub.example.com")).toBe(false);
    expect(guard.origin("https://example.com")).toBe(true);
    expect(guard.origin("http://example.com")).toBe(false);
    expect(guard.beyondLoopback).toBe(true);
  });

  it("still lets a proxy on the same machine pass, but not the pages of its visitors", () => {
    const guard = originGuard({ publicUrl: "https://example.com/mcp" });
    expect(guard.host("127.0.0.1:3000")).toBe(true);
    expect(guard.origin("http://localhost:3000")).toBe(false);
  });

  it("demands the port of a public address that names one", () => {
    const guard = originGuard({ publicUrl: "http://example.com:8080" });
    expect(guard.host("example.com:8080")).toBe(true);
    expect(guard.host("example.com")).toBe(false);
  });

  it("knows names with any port, names with one port, and every name below", () => {
    const guard = originGuard({ allowedHosts: ["a.example", "b.example:81", "*.c.example"] });
    expect(["a.example", "a.example:9", "b.example:81", "x.c.example", "x.y.c.example:1"].map(guard.host)).toEqual(
      Array(5).fill(true),
    );
    expect(["b.example", "b.example:82", "c.example", "xc.example"].map(guard.host)).toEqual(Array(4).fill(false));
  });

  it("can be turned off by name", () => {
    const guard = originGuard({ allowedHosts: ["*"], allowedOrigins: ["*"] });
    expect(guard.host("anything.example")).toBe(true);
    expect(guard.host("not a host")).toBe(false);
    expect(guard.origin("null")).toBe(true);
    expect(guard.beyondLoopback).toBe(true);
  });

  it("allows origins of extensions and apps as they are written", () => {
    const guard = originGuard({ allowedOrigins: ["chrome-extension://abc", "https://app.example/"] });
    expect(guard.origin("chrome-extension://abc")).toBe(true);
    expect(guard.origin("https://app.example")).toBe(true);
    expect(guard.origin("chrome-extension://abd")).toBe(false);
  });

  it.each([
    { publicUrl: "example.com" },
    { publicUrl: "ftp://example.com" },
    { publicUrl: "https://user@example.com" },
    { allowedHosts: ["https://example.com"] },
    { allowedHosts: ["example.com/path"] },
    { allowedHosts: [""] },
    { allowedOrigins: ["example.com"] },
    { allowedOrigins: ["https://example.com/path"] },
  ])("refuses settings that could not mean what they say: %j", (options) => {
    let thrown: unknown;
    try {
      originGuard(options);
    } catch (error) {
      thrown = error;
    }
    expect(McpError.is(thrown) && thrown.fix).toBeTruthy();
  });

  it("remembers no more than a few values, whatever is sent", () => {
    const guard = originGuard({ allowedHosts: ["*"] });
    for (let n = 0; n < 10_000; n++) expect(guard.host(`h${n}.example`)).toBe(true);
  });
});

describe("parseAuthority", () => {
  it.each(["a..b", "-a.example", "a-.example.", "a:b", "a:", "[::1", "a b", "a,b", "é.example", "a%2e"])(
    "refuses %j",
    (text) => {
      expect(parseAuthority(text)).toBeUndefined();
    },
  );
});
