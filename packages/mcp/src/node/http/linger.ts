import type { IncomingMessage, ServerResponse } from "node:http";

/** What is read and dropped of a refused body, so that its sender gets to read the refusal. */
const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 1000;

/**
 * Answers a request whose body is not read to its end. Closing at once would make the kernel reset the connection, and
 * the client would see that instead of the answer; reading on without bound would let it send for ever.
 */
export function endAfterBody(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: string[],
  body: string,
): void {
  let budget = LINGER_BYTES;
  let ended = false;
  const end = () => {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  const declared = Number(request.headers["content-length"] ?? Number.NaN);
  // A short rest is read to its end, and then the connection can serve the next request.
  const closes = !(declared <= LINGER_BYTES);
  response.writeHead(status, closes ? [...headers, "connection", "close"] : headers);
  response.write(body);
  response.once("close", end);
  request.once("end", end);
  request.on("data", (chunk: Buffer) => {
    budget -= chunk.length;
    if (budget < 0) end();
  });
  request.resume();
}
