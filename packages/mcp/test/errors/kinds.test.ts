import { McpError } from "@parley/mcp";
import { ERROR_KINDS } from "@parley/mcp/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { PROVOCATIONS } from "./provocations.js";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

describe("an error of kind", () => {
  it.each(ERROR_KINDS)("%s names its cause and says in one sentence what to change", async (kind) => {
    const { cause, provoke } = PROVOCATIONS[kind];
    const error = await provoke((close) => open.push(close));
    expect(McpError.is(error), `nothing of our own was thrown: ${error}`).toBe(true);
    const { kind: actual, message, fix } = error as McpError;
    expect({ kind: actual, message }).toEqual({ kind, message: expect.stringMatching(cause) });
    expect(fix).toMatch(/^[A-Z`].{10,}\.$/s);
    expect(fix.split(/\.\s+[A-Z]/)).toHaveLength(1);
  });
});

it("An error that nobody gave a fix has the one of its kind", () => {
  for (const kind of ERROR_KINDS) expect(new McpError(kind, "because").fix).toMatch(/^[A-Z`].{10,}\.$/s);
});
