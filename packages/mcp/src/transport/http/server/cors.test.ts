import { describe, expect, it } from "vitest";
import { createCors } from "./cors.js";
import type { Incoming } from "./incoming.js";

function asks(headers: string): Incoming {
  // Only the header is read here.
  return {
    header: (name: string) => (name === "access-control-request-headers" ? headers : undefined),
  } as unknown as Incoming;
}

function record(list: readonly string[]): Record<string, string> {
  const entries = Array.from({ length: list.length / 2 }, (_, at) => [list[2 * at], list[2 * at + 1]]);
  return Object.fromEntries(entries);
}

describe("CORS", () => {
  it("names the origin that asked and says that the answer depends on it", () => {
    const cors = createCors({ origins: ["https://app.example"] });
    expect(record(cors.reply("https://app.example"))).toMatchObject({
      "access-control-allow-origin": "https://app.example",
      vary: "origin",
      "access-control-expose-headers": expect.stringContaining("Mcp-Session-Id"),
    });
    expect(record(cors.reply("https://other.example"))).not.toHaveProperty("access-control-allow-origin");
  });

  it("allows the protocol's headers and mirrored parameters, and no others (HTTP26-47)", () => {
    const cors = createCors({ origins: "*", headers: ["X-Own"] });
    const { "access-control-allow-headers": allowed } = record(
      cors.preflight(
        asks("Mcp-Method, Mcp-Name, mcp-param-region, Authorization, x-own, x-other, mcp-param-"),
        "https://a",
      ),
    );
    expect(allowed).toBe("mcp-method, mcp-name, mcp-param-region, authorization, x-own");
  });

  it("never opens to every origin together with credentials", () => {
    expect(record(createCors({ origins: "*" }).reply("https://a"))["access-control-allow-origin"]).toBe("*");
    const withCredentials = record(createCors({ origins: ["https://a"], credentials: true }).reply("https://a"));
    expect(withCredentials["access-control-allow-credentials"]).toBe("true");
    expect(withCredentials["access-control-allow-origin"]).toBe("https://a");
  });
});
