import { connect, Server } from "@parley/mcp";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { expectTold, loosely, type Told } from "./told.js";

const server = () => new Server({ name: "shop", version: "1" });
const noop = () => "";
const defined = (message: string, fix: string): Told => ({ kind: "invalid_definition", message, fix });
const schema = (message: string, fix: string): Told => ({ kind: "invalid_schema", message, fix });

const WRAP = "Wrap it in an object, for example by `z.object({ … })`.";
const JSON_TYPES = "Use only types that JSON has, or pass a JSON Schema.";
const HANDLER = "Pass a name or URI, a definition (`{}` is enough) and a function.";
const NAME = 'Write `new Server({ name: "weather", version: "1.0.0" })`.';
const NAMED = "Correct the registration or the option that the message names.";
const EXISTS = "Remove it first, use `replace`, or choose another name.";
const VARIABLE = "Write letters, digits, _ and single dots, then nothing, * or :length; no spaces.";

type Mistake = [what: string, mistake: () => unknown, told: Told];

const SERVERS: Mistake[] = [
  ["without a name", () => new Server(loosely({})), defined("a server needs a name and a version", NAME)],
  ["without a version", () => new Server(loosely({ name: "x" })), defined("a server needs a name and a version", NAME)],
  ["of nothing", () => new Server(loosely(undefined)), defined("a server needs a name and a version", NAME)],
];

const HANDLERS: Mistake[] = [
  ["a tool", () => server().tool("buy", {}, loosely(undefined)), defined('the tool "buy" has no handler', HANDLER)],
  [
    "a resource",
    () => server().resource("shop://all", {}, loosely(undefined)),
    defined('the resource "shop://all" has no handler', HANDLER),
  ],
  [
    "a resource template",
    () => server().resourceTemplate("shop://{id}", {}, loosely(undefined)),
    defined('the resource template "shop://{id}" has no handler', HANDLER),
  ],
  ["a prompt", () => server().prompt("sum", {}, loosely("text")), defined('the prompt "sum" has no handler', HANDLER)],
];

const SCHEMAS: Mistake[] = [
  [
    "the type of one argument",
    () => server().tool("buy", { input: loosely(z.string()) }, noop),
    defined('the input schema of tool "buy" must have type "object"', WRAP),
  ],
  [
    "a raw shape",
    () => server().tool("buy", { input: loosely({ a: z.string() }) }, noop),
    defined('the input schema of tool "buy" must have type "object"', WRAP),
  ],
  [
    "a raw shape for a prompt",
    () => server().prompt("sum", { arguments: loosely({ a: z.string() }) }, noop),
    defined(
      'the argument "a" of prompt "sum" is a schema',
      "Pass one schema for all arguments, for example `z.object({ … })`, or describe each: `{ description, required }`.",
    ),
  ],
  [
    "null",
    () => server().tool("buy", { input: loosely(null) }, noop),
    schema('The schema of tool "buy" input must be a JSON Schema object.', JSON_TYPES),
  ],
  [
    "the name of a type",
    () => server().tool("buy", { input: loosely("string") }, noop),
    schema('The schema of tool "buy" input must be a JSON Schema object.', JSON_TYPES),
  ],
  [
    "a Date",
    () => server().tool("buy", { input: z.object({ when: z.object({ from: z.date() }) }) }, noop),
    schema(
      'The schema of tool "buy" input cannot be converted to JSON Schema: Date cannot be represented in JSON Schema (at /when/from)',
      JSON_TYPES,
    ),
  ],
  [
    "a Date in the output",
    () => server().tool("buy", { output: z.object({ at: z.date() }) }, () => ({ at: new Date() })),
    schema(
      'The schema of tool "buy" output cannot be converted to JSON Schema: Date cannot be represented in JSON Schema (at /at)',
      JSON_TYPES,
    ),
  ],
  [
    "a BigInt",
    () => server().tool("buy", { input: z.object({ price: z.bigint() }) }, noop),
    schema(
      'The schema of tool "buy" input cannot be converted to JSON Schema: BigInt cannot be represented in JSON Schema (at /price)',
      JSON_TYPES,
    ),
  ],
  [
    "a library without a converter",
    () => server().tool("buy", { input: v.object({ a: v.string() }) }, noop),
    schema(
      'The schema of tool "buy" input cannot be converted to JSON Schema by valibot itself; pass the option toJsonSchema: toJsonSchema from "@valibot/to-json-schema".',
      "Set the server's option `toJsonSchema` to the function that the message names.",
    ),
  ],
  [
    "a reference into the network",
    () =>
      server().tool("buy", { input: { type: "object", properties: { a: { $ref: "https://example.com/a" } } } }, noop),
    schema(
      'In the schema of tool "buy" input: "https://example.com/a" at /properties/a/$ref points to another document, and references are never fetched',
      "Define the referenced schema under `$defs`.",
    ),
  ],
  [
    "a keyword of the wrong shape",
    () => server().tool("buy", { input: { type: "object", required: loosely("a") } }, noop),
    schema(
      'In the schema of tool "buy" input: required at /required must be a list of strings.',
      "Correct the schema at the path that the message names.",
    ),
  ],
];

const ADDRESSES: Mistake[] = [
  [
    "a template whose brace stays open",
    () => server().resourceTemplate("shop://{item", {}, noop),
    defined(
      'the resource template "shop://{item" is not valid: An expression is not closed at position 7. Add the missing "}".',
      NAMED,
    ),
  ],
  [
    "a template with an empty variable",
    () => server().resourceTemplate("shop://{}", {}, noop),
    defined(`the resource template "shop://{}" is not valid: "" is not a variable at position 8. ${VARIABLE}`, NAMED),
  ],
  [
    "a template whose variable has a space",
    () => server().resourceTemplate("shop://{an item}", {}, noop),
    defined(
      `the resource template "shop://{an item}" is not valid: "an item" is not a variable at position 8. ${VARIABLE}`,
      NAMED,
    ),
  ],
  [
    "a template without a variable",
    () => server().resourceTemplate("shop://item", {}, noop),
    defined('the resource template "shop://item" has no variable', "Use `resource` for a single resource."),
  ],
  [
    "an empty template",
    () => server().resourceTemplate("", {}, noop),
    defined("the name or URI of a resource template must not be empty", NAMED),
  ],
  [
    "a resource without a scheme",
    () => server().resource("item", {}, noop),
    defined('"item" is not a valid URI', "Write a scheme, a colon and a path."),
  ],
  [
    "a tool without a name",
    () => server().tool("", noop),
    defined("the name or URI of a tool must not be empty", NAMED),
  ],
];

const TWICE: Mistake[] = [
  ["tool", () => server().tool("buy", noop).tool("buy", noop), defined('the tool "buy" exists already', EXISTS)],
  [
    "resource",
    () => server().resource("shop://all", {}, noop).resource("shop://all", {}, noop),
    defined('the resource "shop://all" exists already', EXISTS),
  ],
  [
    "template",
    () => server().resourceTemplate("shop://{id}", {}, noop).resourceTemplate("shop://{id}", {}, noop),
    defined('the resource template "shop://{id}" exists already', EXISTS),
  ],
  [
    "prompt",
    () => server().prompt("sum", {}, noop).prompt("sum", {}, noop),
    defined('the prompt "sum" exists already', EXISTS),
  ],
];

describe("a definition", () => {
  it.each(SERVERS)("of a server %s is refused", (_what, mistake, told) => expectTold(mistake, told));
  it.each(HANDLERS)("of %s without a handler is refused", (_what, mistake, told) => expectTold(mistake, told));
  it.each(SCHEMAS)("with %s in place of its schema is refused", (_what, mistake, told) => expectTold(mistake, told));
  it.each(ADDRESSES)("with %s is refused", (_what, mistake, told) => expectTold(mistake, told));
  it.each(TWICE)("of the same %s twice is refused", (_what, mistake, told) => expectTold(mistake, told));

  it("with a name that some clients refuse is warned of", async () => {
    const lines: string[] = [];
    const options = { platform: { warn: (line: string) => void lines.push(line) } };
    const client = await connect(new Server({ name: "shop", version: "1" }, options).tool("buy now", noop));
    await client.close();
    expect(lines).toEqual([
      'the name of tool "buy now" has characters other than letters, digits, underscore, hyphen and dot; some clients refuse it',
    ]);
  });
});
