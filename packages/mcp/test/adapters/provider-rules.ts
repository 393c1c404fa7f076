import { isObject } from "../../src/jsonrpc/message.js";

const GEMINI_KEYS =
  "anyOf default description enum example format items maxItems maxLength maxProperties maximum minItems minLength minProperties minimum nullable pattern properties propertyOrdering required title type".split(
    " ",
  );
const STRICT_KEYS =
  "anyOf description enum format items maxItems maximum exclusiveMaximum minItems minimum exclusiveMinimum multipleOf pattern properties required type additionalProperties".split(
    " ",
  );

/** What OpenAI would refuse in a schema with `strict: true`. */
export function brokenStrictRules(schema: unknown, path = "#", depth = 1): string[] {
  if (!isObject(schema)) return [`${path} is no schema`];
  const broken = unknownKeys(schema, STRICT_KEYS, path);
  if (path === "#" && schema["type"] !== "object") broken.push("# is no object");
  if (schema["type"] === undefined && schema["anyOf"] === undefined) broken.push(`${path} has no type`);
  if ([schema["type"]].flat().includes("object")) {
    const names = Object.keys(Object(schema["properties"]));
    if (schema["additionalProperties"] !== false) broken.push(`${path} is open`);
    if (JSON.stringify(names) !== JSON.stringify(schema["required"])) broken.push(`${path} does not require all`);
    if (depth > 5) broken.push(`${path} is too deep`);
  }
  return [...broken, ...inside(schema, path, depth, brokenStrictRules)];
}

/** What Gemini would refuse in `parameters`. */
export function brokenGeminiRules(schema: unknown, path = "#", depth = 1): string[] {
  if (!isObject(schema)) return [`${path} is no schema`];
  const broken = unknownKeys(schema, GEMINI_KEYS, path);
  const { type, enum: values, properties, items } = schema;
  if (type === undefined && schema["anyOf"] === undefined) broken.push(`${path} has no type`);
  if (type !== undefined && !/^(STRING|NUMBER|INTEGER|BOOLEAN|ARRAY|OBJECT|NULL)$/.test(String(type)))
    broken.push(`${path} has type ${type}`);
  if (values !== undefined && type !== "STRING") broken.push(`${path} has an enum of ${type}`);
  if (Array.isArray(values) && !values.every((value) => typeof value === "string" && value !== ""))
    broken.push(`${path} has enum ${values}`);
  if (type === "OBJECT" && path !== "#" && Object.keys(Object(properties)).length === 0)
    broken.push(`${path} is an empty object`);
  if (type === "ARRAY" && items === undefined) broken.push(`${path} has no items`);
  if (type !== "OBJECT" && properties !== undefined) broken.push(`${path} has properties`);
  for (const name of Object.keys(Object(properties)))
    if (!/^[A-Za-z_]\w{0,63}$/.test(name)) broken.push(`${path} has ${name}`);
  return [...broken, ...inside(schema, path, depth, brokenGeminiRules)];
}

function unknownKeys(schema: Record<string, unknown>, known: readonly string[], path: string): string[] {
  return Object.keys(schema)
    .filter((key) => !known.includes(key))
    .map((key) => `${path} has ${key}`);
}

function inside(
  { properties, items, anyOf }: Record<string, unknown>,
  path: string,
  depth: number,
  rules: (schema: unknown, path: string, depth: number) => string[],
): string[] {
  return [
    ...Object.entries(Object(properties)).flatMap(([name, one]) => rules(one, `${path}/${name}`, depth + 1)),
    ...(items === undefined ? [] : rules(items, `${path}/items`, depth + 1)),
    ...(Array.isArray(anyOf) ? anyOf.flatMap((one, at) => rules(one, `${path}/anyOf/${at}`, depth)) : []),
  ];
}
