import { describe, expect, it } from "vitest";
import { isSecretName, looksSecret, matchesRedacted, Redactor } from "./redactor.js";

const JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";

describe("Redactor", () => {
  it.each([
    [{ token: "abc" }],
    [{ password: 1234 }],
    [{ "api-key": "abc" }],
    [{ API_KEY: "abc" }],
    [{ clientSecret: "abc" }],
    [{ Authorization: "abc" }],
    [{ "Set-Cookie": ["abc", "abc"] }],
    [{ credentials: { user: "abc", pin: 1234 } }],
    [{ PWD: "abc" }],
    [{ pwd: "/abc" }],
    [{ DB_PWD: "/abc" }],
    [{ nested: [{ deep: { accessToken: "abc" } }] }],
  ])("takes the value out of %j", (value) => {
    const text = JSON.stringify(new Redactor().value(value));
    expect(text).not.toMatch(/abc|1234/);
    expect(text).toContain("[redacted]");
  });

  it.each([
    `the token is ${JWT}, keep it`,
    "Authorization: Bearer abc123def456ghi",
    "Basic dXNlcjpwYXNzd29yZDE=",
    "sk-proj-abcdefghijklmnop1234",
    "ghp_abcdefghijklmnopqrst",
    "AKIAABCDEFGHIJKLMNOP",
    '{"password":"hunter2222","name":"Ada"}',
    '{ "password" : "a \\"hunter2222\\" b" }',
    "{'secret': 'hunter2222 is long'}",
    String.raw`{\"token\":\"hunter2222 too\"}`,
    String.raw`{"note":"{\"token\": \"hunter2222 inside\"}"}`,
    `{"note":"{'secret': 'hunter2222 inside'}"}`,
    "token=hunter2222&name=Ada",
    "UID=sa;PWD=hunter2222",
    "https://ada:hunter2222@example.com/",
    "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
  ])("finds the secret in the text %j", (text) => {
    const clean = new Redactor().text(text);
    expect(clean).toContain("[redacted]");
    expect(clean).not.toMatch(/eyJ|abc123|dXNl|abcdefgh|ABCDEFGH|hunter|MIIE/);
  });

  it.each([
    { method: "tools/call", params: { _meta: { progressToken: 7 }, arguments: { text: "the token of appreciation" } } },
    {
      inputSchema: {
        type: "object",
        properties: { password: { type: "string", minLength: 8 } },
        required: ["password"],
      },
    },
    {
      PWD: "/home/ada/project",
      env: "OLDPWD=/home/ada PWD='/home/ada/project'",
      KEYBOARD: "de",
      TOKENIZERS_PARALLELISM: "1",
    },
    { text: '{"PWD":"C:\\\\Users\\\\Ada"}' },
    { text: "Use Bearer authentication and Basic instructions.", maxTokens: 100, tokens: 3, secret: true },
  ])("leaves %j as it is", (value) => {
    expect(new Redactor().value(value)).toEqual(value);
  });

  it("takes out given values, also where they are encoded, and what patterns match", () => {
    const redactor = new Redactor({ values: ['pa"ss word', ""], patterns: [/cust-\d+/, /y*/] });
    const clean = redactor.value({
      a: 'pa"ss word',
      b: "q=pa%22ss%20word",
      c: '{"x":"pa\\"ss word"}',
      d: "cust-12 left",
    });
    expect(clean).toEqual({ a: "[redacted]", b: "q=[redacted]", c: '{"x":"[redacted]"}', d: "[redacted] left" });
  });

  it("does not change names of the prototype, and ends at deep nesting", () => {
    const value: unknown = JSON.parse('{"__proto__":{"token":"abc"}}');
    expect(JSON.stringify(new Redactor().value(value))).toBe('{"__proto__":{"token":"[redacted]"}}');
    let deep: unknown = "bottom";
    for (let level = 0; level < 5_000; level++) deep = [deep];
    expect(JSON.stringify(new Redactor().value(deep))).not.toContain("bottom");
  });

  it("is quick with long texts", () => {
    const long = `${"bearer ".repeat(20_000)}${"a".repeat(200_000)}${"token=".repeat(10_000)}`;
    expect(typeof new Redactor().text(long)).toBe("string");
  });
});

it("knows names and texts of secrets", () => {
  expect(["X-Api-Key", "GITHUB_TOKEN", "cookie"].every(isSecretName)).toBe(true);
  expect(["progressToken", "PATH", "tokenizer"].some(isSecretName)).toBe(false);
  expect(looksSecret(`x ${JWT}`)).toBe(true);
  expect(looksSecret("plain")).toBe(false);
});

it.each([
  ["a", "a", true],
  ["a", "b", false],
  ["[redacted]", "anything", true],
  ["Bearer [redacted]!", "Bearer x!", true],
  ["Bearer [redacted]!", "Bearer x", false],
  ["[redacted] and [redacted]", "x and y", true],
  ["[redacted] and [redacted]", "x or y", false],
  ["ab[redacted]ba", "aba", false],
])("%j was recorded of %j: %j", (recorded, text, fits) => {
  expect(matchesRedacted(recorded, text)).toBe(fits);
});
