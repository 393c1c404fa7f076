// A server that never stops talking, in a process of its own, so that only the client's memory is measured.
// The path says how: /line one SSE line without end, /json 400 MB of JSON, /length the same with its length told, /gzip 400 MB
// in a small body, /comments SSE comments without end. Prints its port, and tells its parent how much of an answer it could write.
import { createServer } from "node:http";
import { createGzip } from "node:zlib";

const MEGABYTE = "x".repeat(1024 * 1024);
const COUNT = 400;

function pour(response, text, count = COUNT) {
  for (; count > 0 && !response.destroyed; count--) {
    response.poured = (response.poured ?? 0) + text.length;
    if (!response.write(text)) {
      response.once("drain", () => pour(response, text, count - 1));
      return;
    }
  }
  response.end();
}

const server = createServer((request, response) => {
  response.on("error", () => {});
  response.on("close", () => process.send?.({ url: request.url, written: response.poured }));
  request.resume();
  switch (request.url.split("?")[0]) {
    case "/line":
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: ");
      return pour(response, MEGABYTE);
    case "/comments":
      response.writeHead(200, { "content-type": "text/event-stream" });
      return pour(response, `: ${MEGABYTE}\n\n`);
    case "/lines":
      response.writeHead(200, { "content-type": "text/event-stream" });
      return pour(response, `data: ${MEGABYTE}\n`);
    case "/length":
      response.writeHead(200, { "content-type": "application/json", "content-length": COUNT * MEGABYTE.length });
      return pour(response, MEGABYTE);
    case "/gzip": {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      const gzip = createGzip();
      gzip.on("error", () => {});
      gzip.pipe(response);
      response.on("close", () => gzip.destroy());
      return pour(gzip, MEGABYTE);
    }
    default:
      response.writeHead(200, { "content-type": "application/json" });
      return pour(response, MEGABYTE);
  }
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.on("disconnect", () => process.exit(0));
