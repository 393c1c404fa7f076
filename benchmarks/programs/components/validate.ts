// Checks of arguments against a JSON Schema; half of the values do not match.
import { Validator as Cfworker, type Schema } from "@cfworker/json-schema";
import { Ajv } from "ajv";
import { compileValidator } from "../../../packages/mcp/src/schema/json-schema/validate.js";
import { answerRounds, repeatNow } from "../../rounds.mjs";

const [kind, form] = process.argv.slice(2);

const search = {
  type: "object",
  properties: { query: { type: "string" }, limit: { type: "integer", minimum: 1 } },
  required: ["query"],
};
const names = Array.from({ length: 40 }, (_, at) => `field${at}`);
const wide = {
  type: "object",
  properties: Object.fromEntries(names.map((name, at) => [name, { type: at % 2 === 0 ? "string" : "integer" }])),
  required: names,
};
const wideValue = Object.fromEntries(names.map((name, at) => [name, at % 2 === 0 ? "text" : at]));

const [schema, values] =
  form === "wide"
    ? [wide, [wideValue, { ...wideValue, field39: "text" }]]
    : [
        search,
        [
          { query: "SELECT 1", limit: 10 },
          { query: "SELECT 1", limit: 0 },
        ],
      ];

function checker(): (value: unknown) => boolean {
  if (kind === "ajv") return new Ajv().compile(schema);
  if (kind === "cfworker") {
    // Its type wants literal types where a constant has strings.
    const validator = new Cfworker(schema as Schema, "2020-12");
    return (value) => validator.validate(value).valid;
  }
  const validator = compileValidator(schema);
  return (value) => validator.validate(value).valid;
}

const isValid = checker();
const [good, bad] = values;
if (!isValid(good) || isValid(bad)) throw new Error("the verdicts are wrong");

answerRounds((ms) =>
  repeatNow(ms, 1000, (times) => {
    let valid = 0;
    for (let at = 0; at < times; at += 2) valid += Number(isValid(good)) + Number(isValid(bad));
    if (valid !== times / 2) throw new Error("the verdicts are wrong");
    return times;
  }),
);
