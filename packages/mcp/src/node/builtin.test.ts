import { afterEach, describe, expect, it, vi } from "vitest";
import { McpError } from "../protocol/error.js";
import { builtin } from "./builtin.js";

afterEach(() => vi.unstubAllGlobals());

function failure(): McpError {
  try {
    builtin("node:http");
  } catch (error) {
    if (McpError.is(error)) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("the modules of Node", () => {
  it("are given out where there are any", () => {
    expect(builtin("node:buffer").isUtf8(Buffer.from("é"))).toBe(true);
  });

  it("are refused in one sentence where the runtime is no Node", () => {
    vi.stubGlobal("process", undefined);
    const { kind, message } = failure();
    expect(kind).toBe("unsupported");
    expect(message).toBe(
      "Node 20.19 or later, Bun or Deno is required, but this is a runtime without Node's modules: " +
        "import `@parley/mcp` instead of `@parley/mcp/node`: it runs here too.",
    );
  });

  it("are refused in one sentence where Node is too old to give them out", () => {
    vi.stubGlobal("process", { versions: { node: "18.20.4" } });
    expect(failure().message).toBe(
      "Node 20.19 or later, Bun or Deno is required, but this is Node 18.20.4: install a newer Node.",
    );
  });

  it.each(["18.20.4", "20.16.0", "20.18.3"])(
    "are refused in one sentence by Node %s, which would give them out",
    (node) => {
      vi.stubGlobal("process", { versions: { node }, getBuiltinModule: () => ({}) });
      expect(failure().message).toBe(
        `Node 20.19 or later, Bun or Deno is required, but this is Node ${node}: install a newer Node.`,
      );
    },
  );

  it.each([
    [{ node: "20.19.0" }],
    [{ node: "22.3.0" }],
    [{ node: "24.0.0-nightly" }],
    [{ node: "18.0.0", bun: "1.0.0" }],
    [{ node: "20.11.1", deno: "2.0.0" }],
  ])("are given out by %j", (versions) => {
    const given = {};
    vi.stubGlobal("process", { versions, getBuiltinModule: () => given });
    expect(builtin("node:http")).toBe(given);
  });
});
