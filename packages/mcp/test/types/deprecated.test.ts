import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const MEMBERS: Record<string, string[]> = {
  "server/contract/context.ts": ["log(level", "sample(request", "roots(options"],
  "server/contract/options.ts": ["onLogLevel?:", "logging?:"],
  "server/server.ts": ["log(level"],
  "client/client.ts": ["setLogLevel(level", "get roots()", "setRoots(roots"],
  "client/contract/options.ts": ["onSample?:", "sampleTools?:", "roots?:", "logLevel?:", "onLog?:"],
  "protocol/features/sampling.ts": ["includeContext?:"],
  "transport/http/server/options.ts": ["legacySse?:", "export interface LegacySseOptions"],
};

describe("what the protocol deprecates", () => {
  const members = Object.entries(MEMBERS).flatMap(([file, names]) => names.map((name) => [file, name] as const));

  it.each(members)("%s: `%s` says so, and what to use instead (EXT-07, SSE24-09)", (file, name) => {
    const source = readFileSync(join(import.meta.dirname, "../../src", file), "utf8");
    const at = source.indexOf(`${name}`);
    const comment = source.slice(source.lastIndexOf("/**", at), at);
    expect(comment).toMatch(/@deprecated The protocol deprecates [^;.]+[;.] \w+/);
    // The comment belongs to this member.
    expect(comment.trim().endsWith("*/")).toBe(true);
  });
});
