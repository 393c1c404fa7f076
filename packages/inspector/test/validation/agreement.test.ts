import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { REVISIONS } from "@parley/mcp/protocol";
import { describe, expect, it } from "vitest";
import { SPEC_FOLDER } from "../../../mcp/test/oracle/oracle.js";
import { loadDefinitions } from "../../../mcp/test/oracle/schema-definitions.js";
import { openSchemaOracle } from "../../../mcp/test/oracle/schema-oracle.js";
import { seededRandom } from "../../../mcp/test/soak/seeded-random.js";
import { checkDefinition } from "../../src/validation/check-shape.js";
import { messageProblems } from "../../src/validation/message-problems.js";
import { definitionsOf } from "../../src/validation/schema-definitions.js";
import { isPlain, readDefinitions, SchemaSamples } from "./schema-samples.js";

const SEED = 17;
/** Values per definition and revision; each comes with its mutants. */
const SAMPLES = 12;
const MUTANTS = 6;
const TABLES = fileURLToPath(new URL("../../src/validation/shapes", import.meta.url));
const SCRIPT = fileURLToPath(new URL("../../../../scripts/message-shapes.mjs", import.meta.url));
const EXAMPLES = join(SPEC_FOLDER, "2026-07-28", "examples");

/** What the official extensions add, as `messageProblems` knows it. */
const EXTENSIONS = { methods: new Set(["tasks/get", "tasks/update", "ui/message"]), resultTypes: new Set(["task"]) };
const oracle = openSchemaOracle(SPEC_FOLDER, EXTENSIONS);
if (oracle === undefined) console.info("shapes of messages: ../shared/spec is not present, so nothing was compared");

describe.skipIf(oracle === undefined)("the shapes of messages, against the published schemas", () => {
  it("are what the script makes of the published files", () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-shapes-"));
    try {
      execFileSync(process.execPath, [SCRIPT, SPEC_FOLDER, folder]);
      for (const file of readdirSync(folder)) {
        expect(readFileSync(join(folder, file), "utf8"), file).toBe(readFileSync(join(TABLES, file), "utf8"));
      }
      expect(readdirSync(folder)).toEqual(readdirSync(TABLES));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each(REVISIONS)("have every definition, method, sender and error of %s", (revision) => {
    const path = join(SPEC_FOLDER, revision, "schema.json");
    const published = loadDefinitions(path);
    const ours = definitionsOf(revision);
    expect([...ours.names()].sort()).toEqual(Object.keys(readDefinitions(path)).sort());
    const methods = REVISIONS.flatMap((each) => [...definitionsOf(each).methods()]);
    for (const method of methods) {
      expect(ours.nameOfMethod(method), method).toBe(published.nameOfMethod(method));
      for (const sender of ["client", "server"] as const) {
        expect(ours.isSentBy(sender, method), method).toBe(published.sendersOf(method).has(sender));
      }
    }
    for (let code = -32768; code < -31999; code++) expect(ours.nameOfError(code)).toBe(published.nameOfError(code));
    for (const name of ours.names()) {
      const base = name.replace(/Request$/, "");
      expect(ours.allowsQuestions(base), base).toBe(published.mayAsk(base));
    }
  });

  it.each(REVISIONS)("judge values of %s and their mutants as a validator of JSON Schema does", (revision) => {
    const published = readDefinitions(join(SPEC_FOLDER, revision, "schema.json"));
    const samples = new SchemaSamples(published, seededRandom(SEED));
    const ours = definitionsOf(revision);
    const counted = { sound: 0, broken: 0 };
    for (const [name, schema] of Object.entries(published)) {
      for (let round = 0; round < SAMPLES; round++) {
        const sound = samples.sample(schema);
        const values = [sound, ...Array.from({ length: MUTANTS }, () => samples.mutant(sound))];
        for (const value of values) {
          const theirs = oracle?.checkDefinition(revision, name, value) ?? [];
          const problems = checkDefinition(ours, name, value);
          counted[theirs.length === 0 ? "sound" : "broken"]++;
          if ((problems.length === 0) === (theirs.length === 0)) continue;
          expect({ name, value: JSON.stringify(value), problems }).toEqual({ theirs });
        }
      }
    }
    console.info(`shapes of ${revision}: ${counted.sound} sound and ${counted.broken} broken values, all judged alike`);
    expect(Math.min(counted.sound, counted.broken)).toBeGreaterThan(1000);
  });

  it.each(REVISIONS)("judge whole messages of %s as the oracle of the tests does", (revision) => {
    const published = readDefinitions(join(SPEC_FOLDER, revision, "schema.json"));
    const samples = new SchemaSamples(published, seededRandom(SEED + 1));
    let compared = 0;
    for (const message of messagesOf(published, samples)) {
      for (const sender of ["client", "server"] as const) {
        const { problems, definition } = messageProblems({ revision, sender, ...message });
        const theirs = oracle?.validate(revision, sender, { ...message.message }, message.answers) ?? [];
        compared++;
        if ((problems.length === 0) === (theirs.length === 0)) continue;
        expect({ message: JSON.stringify(message), sender, definition, problems }).toEqual({ theirs });
      }
    }
    expect(compared).toBeGreaterThan(2000);
  });

  it("accept every official example", () => {
    const ours = definitionsOf("2026-07-28");
    const folders = readdirSync(EXAMPLES);
    let examples = 0;
    for (const name of folders) {
      for (const file of readdirSync(join(EXAMPLES, name))) {
        const value: unknown = JSON.parse(readFileSync(join(EXAMPLES, name, file), "utf8"));
        const theirs = oracle?.checkDefinition("2026-07-28", name, value) ?? [];
        expect({ file, sound: checkDefinition(ours, name, value).length === 0 }).toEqual({
          file,
          sound: theirs.length === 0,
        });
        examples++;
      }
    }
    expect(existsSync(EXAMPLES) && examples).toBeGreaterThan(80);
  });
});

type Message = { message: { [key: string]: unknown }; answers?: string };

/** Requests, notifications, results and errors of every definition, sound and changed. */
function* messagesOf(published: ReturnType<typeof readDefinitions>, samples: SchemaSamples): Generator<Message> {
  const methods: string[] = [];
  for (const [name, schema] of Object.entries(published)) {
    const method =
      isPlain(schema.properties) && isPlain(schema.properties.method) ? schema.properties.method.const : undefined;
    if (typeof method === "string") methods.push(method);
    for (let round = 0; round < 10; round++) {
      const value = samples.sample(schema);
      for (const made of [value, samples.mutant(value)]) {
        if (!isPlain(made)) continue;
        yield { message: { jsonrpc: "2.0", ...(name.endsWith("Notification") ? {} : { id: 1 }), ...made } };
        yield { message: { jsonrpc: "2.0", id: 1, error: made } };
        const answered = methods[Math.floor(round * 7) % methods.length];
        if (answered !== undefined) yield { message: { jsonrpc: "2.0", id: 1, result: made }, answers: answered };
        const own = methodAnsweredWith(published, name);
        if (own !== undefined)
          yield { message: { jsonrpc: "2.0", id: "a", result: withKind(made, round) }, answers: own };
      }
    }
  }
}

function methodAnsweredWith(published: ReturnType<typeof readDefinitions>, name: string): string | undefined {
  const base = name === "InputRequiredResult" ? "CallTool" : name.replace(/Result$/, "");
  const properties = published[`${base}Request`]?.properties;
  const method = isPlain(properties) && isPlain(properties.method) ? properties.method.const : undefined;
  return typeof method === "string" ? method : undefined;
}

function withKind(result: { readonly [key: string]: unknown }, round: number): { readonly [key: string]: unknown } {
  const kinds = ["complete", "complete", "complete", "input_required", "input_required", "task", "strange"];
  return result.resultType === undefined ? result : { ...result, resultType: kinds[round % kinds.length] };
}
