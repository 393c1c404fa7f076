import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ActionName } from "../contract/actions.js";
import type { FileStream } from "../contract/sessions.js";
import type { InspectorEngine } from "../engine/inspector-engine.js";
import { toProblemInfo } from "../engine/problem-info.js";
import type { Credentials } from "./credentials.js";
import { streamEvents } from "./event-stream.js";
import { CLOSED_PAGE, type PageFile } from "./page-files.js";
import { type Refusal, refusal } from "./refusal.js";
import { checkRequest, isOwnHost, pathOf } from "./request-rules.js";

/** Options of `RequestAnswers`. */
interface RequestAnswersOptions {
  readonly engine: InspectorEngine;
  readonly page: ReadonlyMap<string, PageFile>;
  readonly credentials: Credentials;
  /** The port that the server listens on. The `Host` header of requests must name this port. */
  readonly port: number;
  /** Called whenever a page opens a stream of events. The page has rendered by then. */
  readonly onStreamOpened?: (() => void) | undefined;
  /** The headers of every response. */
  readonly headers: Readonly<Record<string, string>>;
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;
/**
 * Maximum size of an import. Larger imports are refused. The limit is higher than for other actions, because a
 * recording is imported as a whole.
 */
const MAX_IMPORT_BYTES = 64 * 1024 * 1024;
/**
 * Maximum number of event streams. Further streams are refused. Browsers open at most six connections to a host for all
 * of their tabs, and one connection must remain for actions.
 */
const MAX_STREAMS = 5;
/** Maximum number of concurrent actions. Further ones are refused. A page runs only a few at a time. */
const MAX_ACTIONS = 256;

const API = "/api/";
const JSON_TYPE = "application/json; charset=utf-8";

/** Answers the requests of the page and refuses all others. Every request passes `checkRequest` first. */
export class RequestAnswers {
  readonly #options: RequestAnswersOptions;
  readonly #streams = new Set<() => void>();
  #actions = 0;

  constructor(options: RequestAnswersOptions) {
    this.#options = options;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request.url ?? "");
    const refused = checkRequest(request, this.#options.port);
    if (refused !== undefined) this.#refuseFrom(request, response, refused);
    else if (path.startsWith(API)) await this.#api(request, response, path.slice(API.length));
    else if (request.method !== "GET") this.#refuse(response, refusal(405, "pages are read with GET", "Use GET."));
    else this.#file(request, response, path);
  }

  /** Ends the event streams, so that the pages notice that the inspector has stopped. */
  endStreams(): void {
    for (const end of this.#streams) end();
  }

  #file(request: IncomingMessage, response: ServerResponse, path: string): void {
    const { page, credentials } = this.#options;
    const token = path === "/" ? new URLSearchParams(request.url?.slice(path.length)).get("token") : null;
    const isKnown = token === null ? credentials.hasCookie(request.headers.cookie) : credentials.isToken(token);
    if (!isKnown) {
      const tooMany = token !== null && credentials.countGuess();
      return this.#send(response, tooMany ? 429 : 403, CLOSED_PAGE);
    }
    const file = page.get(path);
    if (file === undefined) return this.#refuse(response, refusal(404, "the file does not exist", "Open the page."));
    return this.#send(response, 200, file, token === null ? {} : { "set-cookie": credentials.setCookie });
  }

  async #api(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const refused = this.#checkCredentials(request);
    if (refused !== undefined) return this.#refuse(response, refused);
    if (name === "events" && request.method === "GET") return this.#events(request, response);
    const action = actionNamed(this.#options.engine, name);
    if (action === undefined) {
      return this.#refuse(response, refusal(404, "the action does not exist", "Reload the page."));
    }
    if (request.method !== "POST")
      return this.#refuse(response, refusal(405, "actions are sent with POST", "Use POST."));
    if (this.#actions >= MAX_ACTIONS) {
      return this.#refuse(response, refusal(503, `${MAX_ACTIONS} actions are running`, "Wait for some to end."));
    }
    this.#actions += 1;
    try {
      const body = await readJsonBody(request, action === "importSession" ? MAX_IMPORT_BYTES : MAX_BODY_BYTES);
      if ("refused" in body) return this.#refuse(response, body.refused);
      const answer = await answerAction(this.#options.engine, action, body.input);
      if (typeof answer === "string") {
        return this.#send(response, 200, { mediaType: JSON_TYPE, bytes: Buffer.from(answer) });
      }
      response.writeHead(200, { ...this.#options.headers, "content-type": JSON_TYPE });
      return await writeFile(response, answer);
    } finally {
      this.#actions -= 1;
    }
  }

  #checkCredentials({ headers }: IncomingMessage): Refusal | undefined {
    const { credentials } = this.#options;
    const given = headers["x-parley-token"];
    const isToken = typeof given === "string" && credentials.isToken(given);
    if (isToken && credentials.hasCookie(headers.cookie)) return undefined;
    const tooMany = given !== undefined && !isToken && credentials.countGuess();
    const fix = "Open the address that the terminal printed.";
    if (tooMany) return refusal(429, "the token was wrong too often", fix);
    return refusal(401, "the request does not have the token and the cookie of this inspector", fix);
  }

  #events(request: IncomingMessage, response: ServerResponse): void {
    if (this.#streams.size >= MAX_STREAMS) {
      return this.#refuse(response, refusal(503, `${MAX_STREAMS} pages are already open`, "Close another tab."));
    }
    const from = Number(new URLSearchParams(request.url?.split("?")[1]).get("from") ?? 0);
    if (!Number.isSafeInteger(from) || from < 0) {
      return this.#refuse(response, refusal(400, "`from` is not the number of an entry", "Reload the page."));
    }
    response.writeHead(200, { ...this.#options.headers, "content-type": "application/x-ndjson; charset=utf-8" });
    const end = streamEvents(this.#options.engine, response, from);
    this.#streams.add(end);
    response.once("close", () => this.#streams.delete(end));
    this.#options.onStreamOpened?.();
  }

  /**
   * Shows instructions to a user who followed a link from another page. Other requests get a refusal that does not
   * reveal the page.
   */
  #refuseFrom({ headers, method, url = "" }: IncomingMessage, response: ServerResponse, refused: Refusal): void {
    const isPerson = method === "GET" && pathOf(url) === "/" && isOwnHost(headers.host, this.#options.port);
    if (isPerson && refused.status === 403) this.#send(response, 403, CLOSED_PAGE, { connection: "close" });
    else this.#refuse(response, refused);
  }

  #refuse(response: ServerResponse, { status, problem }: Refusal): void {
    const text = JSON.stringify({ ok: false, problem });
    // Closes the connection, because the rest of the request is not read.
    this.#send(response, status, { mediaType: JSON_TYPE, bytes: Buffer.from(text) }, { connection: "close" });
  }

  #send(
    response: ServerResponse,
    status: number,
    { mediaType, bytes }: PageFile,
    more: Record<string, string> = {},
  ): void {
    response.writeHead(status, {
      ...this.#options.headers,
      "content-type": mediaType,
      "content-length": bytes.length,
      ...more,
    });
    response.end(bytes);
  }
}

/** Returns the action with the name in the path. Ignores inherited names, such as `constructor`. */
function actionNamed(engine: InspectorEngine, name: string): ActionName | undefined {
  // Safe: the own members of the handlers are exactly the actions.
  return Object.hasOwn(engine.handlers, name) ? (name as ActionName) : undefined;
}

/** Runs an action. Returns its `ActionAnswer` as JSON, or the file to stream. A failed action also has an answer. */
async function answerAction(
  engine: InspectorEngine,
  name: ActionName,
  input: Readonly<Record<string, unknown>>,
): Promise<string | FileStream> {
  try {
    // Safe: the handlers validate their input.
    const value: unknown = await engine.handlers[name](input as never);
    return isFileStream(value) ? value : JSON.stringify({ ok: true, value: value ?? {} });
  } catch (reason) {
    return JSON.stringify({ ok: false, problem: toProblemInfo(reason) });
  }
}

/**
 * Maximum nesting depth of a body. Deeper bodies are refused, because they could overflow the stack. The forms of the
 * page stay far below this depth.
 */
const MAX_LEVELS = 128;

/** The JSON object of a body, or the reason to refuse the request. */
type ReadBody = { readonly input: Readonly<Record<string, unknown>> } | { readonly refused: Refusal };

/** Reads the body of a request as a JSON object of at most `maxBytes`. Rejects when the connection is lost. */
async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<ReadBody> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") return wrong(415, "the body is not JSON", "Send `content-type: application/json`.");
  const tooMuch = () => wrong(413, `the body has more than ${maxBytes} bytes`, "Send less.");
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return tooMuch();
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The request is not destroyed on return, so that the refusal still reaches the sender.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    // Safe: without an encoding, a request yields buffers.
    const part = chunk as Buffer;
    bytes += part.length;
    if (bytes > maxBytes) return tooMuch();
    chunks.push(part);
  }
  return parsed(Buffer.concat(chunks).toString());
}

function parsed(text: string): ReadBody {
  if (levelsOf(text) > MAX_LEVELS) {
    return wrong(400, `the body has more than ${MAX_LEVELS} levels`, "Send a value that is less nested.");
  }
  try {
    const input: unknown = JSON.parse(text);
    if (isRecord(input)) return { input };
  } catch {
    // Refused below, like any body that is not an object.
  }
  return wrong(400, "the body is not a JSON object", "Send an object.");
}

const wrong = (status: number, message: string, fix: string): ReadBody => ({ refused: refusal(status, message, fix) });

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns the nesting depth of a JSON text before it is parsed. Brackets in strings do not count. Uses a loop, because
 * regular expressions overflow the stack on long strings.
 */
function levelsOf(text: string): number {
  let [level, deepest, quoted] = [0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') quoted = !quoted;
    else if (quoted) at += sign === "\\" ? 1 : 0;
    else if (sign === "[" || sign === "{") deepest = Math.max(deepest, ++level);
    else if (sign === "]" || sign === "}") level -= 1;
  }
  return deepest;
}

/** True if an action returned a file to stream. */
export function isFileStream(value: unknown): value is FileStream {
  return typeof value === "object" && value !== null && "parts" in value && "mediaType" in value;
}

/**
 * Writes a file as the response to an action. Writes each part when the page has read the previous ones, and stops when
 * the page disconnects. Rejects if producing the file fails. The caller must then close the connection, because the
 * response is incomplete.
 */
async function writeFile(response: ServerResponse, { name, mediaType, parts }: FileStream): Promise<void> {
  const header = JSON.stringify({ name, mediaType }).slice(0, -1);
  if (!response.destroyed) response.write(`{"ok":true,"value":${header},"text":"`);
  for await (const part of parts) {
    if (response.destroyed) return;
    // Writes the content of a JSON string, without its quotes.
    if (!response.write(JSON.stringify(part).slice(1, -1))) await drained(response);
  }
  if (!response.destroyed) response.end('"}}');
}

async function drained(response: ServerResponse): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  try {
    // A destroyed response emits no further events, so waiting would never end.
    if (!response.destroyed)
      await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]);
  } finally {
    ending.abort();
  }
}
