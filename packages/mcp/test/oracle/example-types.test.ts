import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { SPEC_FOLDER } from "./oracle.js";

const EXAMPLES = join(SPEC_FOLDER, "2026-07-28", "examples");
const ENTRY = fileURLToPath(new URL("../../src/protocol.ts", import.meta.url));
/** Never written: the compiler is given its text from memory, beside the entry so that the import resolves. */
const VIRTUAL = fileURLToPath(new URL("../../src/published-examples.ts", import.meta.url));

const options: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ["lib.es2023.d.ts", "lib.webworker.d.ts"],
  types: [],
};

interface Example {
  name: string;
  definition: string;
  value: { [key: string]: unknown };
}

function readExamples(): Example[] {
  if (!existsSync(EXAMPLES)) return [];
  return readdirSync(EXAMPLES).flatMap((definition) =>
    readdirSync(join(EXAMPLES, definition)).map((file) => ({
      name: `${definition}/${file}`,
      definition,
      // The files are objects by their definitions, which the other tests of this folder check.
      value: JSON.parse(readFileSync(join(EXAMPLES, definition, file), "utf8")) as Example["value"],
    })),
  );
}

/** A line of TypeScript that compiles only if the library's type accepts the example; undefined where there is no type. */
function lineOf({ definition, value }: Example, exported: ReadonlySet<string>): string | undefined {
  if (typeof value.method === "string") {
    const type = value.method.startsWith("notifications/")
      ? `p.Notifications["${value.method}"]`
      : `p.ParamsOf<"${value.method}">`;
    return `void (${JSON.stringify(value.params ?? {})} satisfies ${type});`;
  }
  if (definition.endsWith("ResultResponse")) {
    return `void (${JSON.stringify(value.result)} satisfies p.${definition.replace("Response", "")});`;
  }
  if (value.error !== undefined) return `void (${JSON.stringify(value.error)} satisfies p.ErrorObject);`;
  return exported.has(definition) ? `void (${JSON.stringify(value)} satisfies p.${definition});` : undefined;
}

function compile(text: string): ts.Program {
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (file) => file === VIRTUAL || fileExists(file);
  host.getSourceFile = (file, language) =>
    file === VIRTUAL ? ts.createSourceFile(file, text, language) : getSourceFile(file, language);
  return ts.createProgram([VIRTUAL, ENTRY], options, host);
}

function exportedNames(): Set<string> {
  const names = [...readFileSync(ENTRY, "utf8").matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap((match) =>
    (match[1] ?? "").split(",").map((name) => name.replace(/^\s*(type )?/, "").trim()),
  );
  return new Set(names);
}

describe("the types of the wire", () => {
  it("accept every published example, with no member unknown to them", { timeout: 240_000 }, () => {
    const exported = exportedNames();
    const lines: string[] = ['import type * as p from "./protocol.js";'];
    const names: string[] = [""];
    const without: string[] = [];
    for (const example of readExamples()) {
      const line = lineOf(example, exported);
      if (line === undefined) without.push(example.name);
      else {
        lines.push(line);
        names.push(example.name);
      }
    }
    const list = without.length > 0 ? `; without a type: ${without.join(", ")}` : "";
    console.info(`example types: ${lines.length - 1} compiled${list}`);
    // One that must fail, so that silence means something.
    lines.push('void ({ type: "text" } satisfies p.TextContent);');
    names.push("broken on purpose");
    const program = compile(lines.join("\n"));
    const source = program.getSourceFile(VIRTUAL);
    const problems = program.getSemanticDiagnostics(source).map((problem) => {
      const line = source?.getLineAndCharacterOfPosition(problem.start ?? 0).line ?? 0;
      return `${names[line]}: ${ts.flattenDiagnosticMessageText(problem.messageText, " ")}`;
    });
    expect(problems).toEqual([expect.stringMatching(/^broken on purpose: /)]);
  });
});
