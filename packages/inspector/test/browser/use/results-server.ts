import { content, resourceTemplate, Server } from "@parley/mcp";

/** A picture of one red pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

const DRAWING =
  '<svg xmlns="http://www.w3.org/2000/svg" width="12" height="8"><rect width="12" height="8" fill="green"/></svg>';

/** A sound of a tenth of a second, without a tone. */
function silence(): Uint8Array {
  const rate = 8_000;
  const samples = Buffer.alloc(rate / 10, 128);
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

const MARKDOWN = `# Harbour

A **calm** day, see [the tide table](https://example.com/tides) or [nothing](javascript:alert(1)).

- boats
- gulls
- [x] nets

| city | height |
| --- | --- |
| Bergen | 1.6 |

![a map](https://example.com/map.png) <b>bold</b>
`;

const CITIES = [
  { city: "Oslo", degrees: 4, wind: { from: "N" } },
  { city: "Bergen", degrees: 9, rain: true },
];

/** Lines of a text that is too long to be shown at once, and how long it is. */
export const LONG = "a line of twenty-four ch\n".repeat(12_000);

/** A resource that can be read, and is in no list. */
const hidden = resourceTemplate("hidden://{name}", { name: "hidden" }, ({ name }) => `the contents of ${name}`);

/** A server with a result of every type. */
export function resultsServer(): Server {
  return new Server({ name: "results", version: "1" })
    .tool("picture", {}, () => [
      content.image(PIXEL, "image/png"),
      content.image(Buffer.from(DRAWING), "image/svg+xml"),
      content.image(PIXEL, "image/tiff"),
    ])
    .tool("sound", {}, () => [content.audio(silence(), "audio/wav")])
    .tool("markdown", {}, () => MARKDOWN)
    .tool("cities", {}, () => ({
      content: [{ type: "text" as const, text: JSON.stringify({ cities: CITIES }) }],
      structuredContent: { cities: CITIES },
    }))
    .tool("country", {}, () => ({ content: [], structuredContent: { name: "Norway", cities: CITIES } }))
    .tool("bytes", {}, () => [
      content.resource("file:///a/data.bin", new Uint8Array([0, 1, 2, 80, 65, 82]), { mimeType: "application/zip" }),
    ])
    .tool("linked", {}, () => [content.link("hidden://spring", { name: "spring", description: "What comes next" })])
    .tool("long", {}, () => LONG)
    .add(hidden);
}
