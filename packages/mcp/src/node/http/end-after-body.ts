import type { IncomingMessage, ServerResponse } from "node:http";

/** How much of a refused body is read and dropped, so that the client can read the refusal. */
const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 1000;

/**
 * Answers a request whose body has not been read completely. If the connection closed immediately, the kernel would reset it
 * and the client would never see the answer; without a bound, the client could send forever.
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
  // A short body is read completely, so that the connection can serve the next request.
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
