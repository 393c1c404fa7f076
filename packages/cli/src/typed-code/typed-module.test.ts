import fc from "fast-check";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { hostileOffers } from "../../test/typed-code/hostile-offers.js";
import { type ModuleLanguage, moduleText } from "./module-text.js";
import type { ServerOffers } from "./server-offers.js";
import { typedModule } from "./typed-module.js";

const offers = (more: Partial<ServerOffers>): ServerOffers => ({
  server: "s",
  tools: [],
  prompts: [],
  templates: [],
  ...more,
});
const tools = (...names: string[]) => names.map((name) => ({ name, inputSchema: { type: "object" as const } }));
const functionsOf = (...names: string[]) =>
  Object.fromEntries(
    typedModule(offers({ tools: tools(...names) })).functions.map(({ source, name }) => [source, name]),
  );

describe("names of generated functions", () => {
  it.each([
    ["forecast", "forecast"],
    ["create_pull_request", "createPullRequest"],
    ["get-weather", "getWeather"],
    ["files/read.now", "filesReadNow"],
    ["URLFetch", "urlFetch"],
    ["GET", "get"],
    ["2fa", "_2fa"],
    ["delete", "delete_"],
    ["then", "then_"],
    ["__proto__", "proto"],
    ["GetPrompt", "getPrompt"],
  ])("%s is %s", (source, name) => {
    expect(functionsOf(source)).toEqual({ [source]: name });
  });

  it("are told apart where several would be the same, whatever stands beside them", () => {
    const { getWeather, get_weather, "get-weather": dashed } = functionsOf("get-weather", "getWeather", "get_weather");
    expect(getWeather).toBe("getWeather");
    expect(get_weather).toMatch(/^getWeather_[0-9a-f]{8}$/);
    expect(dashed).toMatch(/^getWeather_[0-9a-f]{8}$/);
    expect(functionsOf("get_weather", "getWeather", "x")).toMatchObject({ getWeather: "getWeather", get_weather });
  });

  it("are made of digits where no letter of the name can be kept", () => {
    const names = Object.values(functionsOf("天气", "予報", "🌦"));
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^unnamed[0-9a-f]{8}$/);
  });

  it("leave the types of the module alone", () => {
    const text = moduleText(
      typedModule(
        offers({
          tools: ["get_prompt", "read_resource", "any"].map((name) => ({
            name,
            inputSchema: { type: "object" },
            outputSchema: { type: "object" },
          })),
          prompts: [{ name: "get" }, { name: "any" }],
        }),
      ),
      "ts",
    );
    const declared = [...text.matchAll(/^export (?:type|interface|function) (\w+)/gm)].map(([, name]) => name);
    expect(new Set(declared).size).toBe(declared.length);
    expect(text).toMatch(/export type GetPromptResult_[0-9a-f]{8} = /);
  });
});

/** What the compiler keeps of a file besides its statements. */
interface Parsed {
  parseDiagnostics: readonly ts.Diagnostic[];
  commentDirectives?: readonly unknown[] | undefined;
  checkJsDirective?: unknown;
}

const STATEMENTS = new Set([
  ts.SyntaxKind.ImportDeclaration,
  ts.SyntaxKind.InterfaceDeclaration,
  ts.SyntaxKind.TypeAliasDeclaration,
  ts.SyntaxKind.FunctionDeclaration,
]);
/** What a body may call. */
const CALLS =
  /^(?:invoke|client\.call|client\.getPrompt|client\.readResource|expanded|encodeURIComponent\(value\)\.replace)$/;

function checkFile(code: string, language: ModuleLanguage): void {
  const kind = language === "js" ? ts.ScriptKind.JS : ts.ScriptKind.TS;
  const file = ts.createSourceFile(`x.${language}`, code, ts.ScriptTarget.Latest, true, kind);
  // Members that the declarations of the compiler leave out.
  const { parseDiagnostics, commentDirectives, checkJsDirective } = file as unknown as Parsed;
  expect(parseDiagnostics.map(({ messageText }) => messageText)).toEqual([]);
  expect(commentDirectives ?? []).toEqual([]);
  expect(checkJsDirective).toBeUndefined();
  const functions = file.statements.filter(ts.isFunctionDeclaration);
  expect(file.statements.filter(({ kind }) => !STATEMENTS.has(kind))).toEqual([]);
  expect(new Set(functions.map(({ name }) => name?.text)).size).toBe(functions.length);
  for (const { body } of functions) {
    if (body === undefined) continue;
    expect(body.statements.map(({ kind }) => kind)).toEqual([ts.SyntaxKind.ReturnStatement]);
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && !/^(?:char|encodeURIComponent$)/.test(node.expression.getText(file))) {
        expect(node.expression.getText(file)).toMatch(CALLS);
      }
      ts.forEachChild(node, visit);
    };
    ts.forEachChild(body, visit);
  }
}

describe("a generated module", () => {
  it.each<ModuleLanguage>(["ts", "js", "d.ts"])("has no statement of the server in its .%s", (language) => {
    fc.assert(
      fc.property(hostileOffers, (given) => {
        const code = moduleText(typedModule(given), language);
        checkFile(code, language);
        expect(code).not.toMatch(/(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
      }),
      { numRuns: 300 },
    );
  });

  it("is the same for any order of the lists and of members", () => {
    const a = { name: "a", inputSchema: { type: "object" as const, properties: { x: {}, y: {} } } };
    const turned = { ...a, inputSchema: { properties: { y: {}, x: {} }, type: "object" as const } };
    const text = (tool: typeof a) => moduleText(typedModule(offers({ tools: [tool] })), "ts");
    expect(text(turned)).toBe(text(a));
  });
});
