import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { connect } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { server } from "../../../../examples/generated/server.js";
import { moduleText } from "../../src/typed-code/module-text.js";
import { readOffers } from "../../src/typed-code/server-offers.js";
import { typedModule } from "../../src/typed-code/typed-module.js";

const root = resolve(import.meta.dirname, "../../../..");
const read = (path: string) => readFileSync(resolve(root, path), "utf8");

describe("the example of generated code", () => {
  it("has the module that its server gives now", async () => {
    await using client = await connect(server);
    const module = typedModule(await readOffers(client, AbortSignal.timeout(60_000)));
    expect(read("examples/generated/weather.ts")).toBe(moduleText(module, "ts"));
  });

  it("is what the page about it shows", () => {
    const [, shown = ""] = /```typescript\n([\s\S]*?)```/.exec(read("docs/cli-types.md")) ?? [];
    const program = read("examples/generated/main.ts");
    const calls = [...shown.matchAll(/(getForecast\(client, \{.*?\}|client\.call\(.*?\))/g)].map(([call]) => call);
    expect(calls).toHaveLength(2);
    for (const call of calls) expect(program).toContain(call);
    expect(existsSync(resolve(root, "docs", "../examples/generated"))).toBe(true);
  });
});
