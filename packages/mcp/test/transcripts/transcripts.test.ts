import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { REVISIONS } from "../../src/protocol/revisions.js";
import { impatient } from "../client/impatient.js";
import { recordedPipe, withoutChance } from "./recorded-pipe.js";
import { stories, storyServer } from "./stories.js";

const update = process.env["UPDATE_TRANSCRIPTS"] === "1";

for (const revision of REVISIONS) {
  describe(`golden transcripts of ${revision}`, () => {
    for (const [name, { options, run }] of Object.entries(stories)) {
      it(`${name} is said as written`, async () => {
        const pipe = recordedPipe(storyServer());
        const told = { name: "reader", version: "1.0.0", revisions: [revision], platform: impatient };
        const client = await connect(pipe, { ...told, ...options });
        await run(client, pipe);
        await client.close();
        const text = `${withoutChance(pipe.lines).join("\n")}\n`;
        const file = new URL(`./${revision}/${name}.txt`, import.meta.url);
        if (update) writeFileSync(file, text);
        expect(existsSync(file), `${file.pathname} is missing; UPDATE_TRANSCRIPTS=1 writes it`).toBe(true);
        expect(text).toBe(readFileSync(file, "utf8"));
      });
    }
  });
}
