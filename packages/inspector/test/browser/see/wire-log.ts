import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { AddressInfo } from "node:net";

/** A message as it passed, seen from neither side. */
interface LoggedMessage {
  readonly direction: "sent" | "received";
  readonly text: string;
}

/** A place between a client and a server that passes everything on, and notes every message. */
export interface WireLog {
  /** Where a client finds the server. */
  readonly url: string;
  /** In the order of their ends. */
  readonly messages: readonly LoggedMessage[];
  close(): Promise<void>;
}

/** Starts it before a server that speaks over HTTP. */
export async function startWireLog(server: string): Promise<WireLog> {
  const messages: LoggedMessage[] = [];
  const between = createServer((request, response) => void pass(server, request, response, messages));
  await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
  return {
    // It listens on a port, so the address is no path.
    url: `http://127.0.0.1:${(between.address() as AddressInfo).port}${new URL(server).pathname}`,
    messages,
    async close() {
      between.closeAllConnections();
      await new Promise((resolve) => between.close(resolve));
    },
  };
}

async function pass(server: string, request: IncomingMessage, response: ServerResponse, messages: LoggedMessage[]) {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  if (body !== "") messages.push({ direction: "sent", text: body });
  const { host: _, ...headers } = request.headers;
  const onward = send(server, { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    const isStream = answer.headers["content-type"]?.includes("event-stream") === true;
    let rest = "";
    answer.setEncoding("utf8");
    answer.on("data", (chunk: string) => {
      rest += chunk;
      // Noted before it is passed on, so that whoever has it finds it here.
      if (isStream) rest = noteEvents(rest, messages);
      response.write(chunk);
    });
    answer.on("end", () => {
      if (!isStream && rest !== "") messages.push({ direction: "received", text: rest });
      response.end();
    });
    answer.on("error", () => response.destroy());
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  onward.end(body);
}

/** Notes the whole events of a stream, and gives back what has only begun. */
function noteEvents(text: string, messages: LoggedMessage[]): string {
  const events = text.split(/\r?\n\r?\n/);
  const rest = events.pop() ?? "";
  for (const event of events) {
    const data = event.split(/\r?\n/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trim()] : []));
    if (data.join("") !== "") messages.push({ direction: "received", text: data.join("\n") });
  }
  return rest;
}
