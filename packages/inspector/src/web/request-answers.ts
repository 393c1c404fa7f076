import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ActionName } from "../contract/actions.js";
import type { WrittenFile } from "../contract/keep.js";
import type { InspectorEngine } from "../engine/inspector-engine.js";
import { shownProblem } from "../engine/shown-problem.js";
import type { Credentials } from "./credentials.js";
import { streamEvents } from "./event-stream.js";
import { CLOSED_PAGE, type PageFile } from "./page-files.js";
import { type Refusal, refusal } from "./refusal.js";
import { isOwnHost, judgeRequest, pathOf } from "./request-rules.js";

/** What requests are answered from. */
interface AnswerParts {
  readonly engine: InspectorEngine;
  readonly page: ReadonlyMap<string, PageFile>;
  readonly credentials: Credentials;
  /** The port that is listened on, which requests must name. */
  readonly port: number;
  /** Called whenever a page has begun to follow the events, and so has been painted. */
  readonly onFollowed?: (() => void) | undefined;
  /** Sent with every answer. */
  readonly headers: Readonly<Record<string, string>>;
}

const MOST_BYTES = 4 * 1024 * 1024;
/** A recording is imported as a whole. */
const MOST_IMPORTED_BYTES = 64 * 1024 * 1024;
/** Browsers open six connections to a host for all of their tabs; one must remain for actions. */
const MOST_STREAMS = 5;
/** Actions at a time; a page has a few. */
const MOST_ACTIONS = 256;

const API = "/api/";
const JSON_TYPE = "application/json; charset=utf-8";

/** Answers the requests of the page, and refuses all others. Every request passes `judgeRequest` first. */
export class RequestAnswers {
  readonly #parts: AnswerParts;
  readonly #streams = new Set<() => void>();
  #actions = 0;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request.url ?? "");
    const refused = judgeRequest(request, this.#parts.port);
    if (refused !== undefined) this.#refuseFrom(request, response, refused);
    else if (path.startsWith(API)) await this.#api(request, response, path.slice(API.length));
    else if (request.method !== "GET") this.#refuse(response, refusal(405, "a page is read by GET", "Send a GET."));
    else this.#file(request, response, path);
  }

  /** Ends the streams of events; pages find out that nobody is there. */
  endStreams(): void {
    for (const end of this.#streams) end();
  }

  #file(request: IncomingMessage, response: ServerResponse, path: string): void {
    const { page, credentials } = this.#parts;
    const token = path === "/" ? new URLSearchParams(request.url?.slice(path.length)).get("token") : null;
    const isKnown = token === null ? credentials.hasCookie(request.headers.cookie) : credentials.isToken(token);
    if (!isKnown) {
      const tooMany = token !== null && credentials.countGuess();
      return this.#send(response, tooMany ? 429 : 403, CLOSED_PAGE);
    }
    const file = page.get(path);
    if (file === undefined) return this.#refuse(response, refusal(404, "there is no such file", "Open the page."));
    return this.#send(response, 200, file, token === null ? {} : { "set-cookie": credentials.setCookie });
  }

  async #api(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const refused = this.#judgeCredentials(request);
    if (refused !== undefined) return this.#refuse(response, refused);
    if (name === "events" && request.method === "GET") return this.#events(request, response);
    const action = actionNamed(this.#parts.engine, name);
    if (action === undefined) {
      return this.#refuse(response, refusal(404, "there is no such action", "Reload the page."));
    }
    if (request.method !== "POST") return this.#refuse(response, refusal(405, "an action is a POST", "Send a POST."));
    if (this.#actions >= MOST_ACTIONS) {
      return this.#refuse(response, refusal(503, `${MOST_ACTIONS} actions are under way`, "Wait for some to end."));
    }
    this.#actions += 1;
    try {
      const body = await readJsonBody(request, action === "importSession" ? MOST_IMPORTED_BYTES : MOST_BYTES);
      if ("refused" in body) return this.#refuse(response, body.refused);
      const answer = await answerAction(this.#parts.engine, action, body.input);
      if (typeof answer === "string") {
        return this.#send(response, 200, { mediaType: JSON_TYPE, bytes: Buffer.from(answer) });
      }
      response.writeHead(200, { ...this.#parts.headers, "content-type": JSON_TYPE });
      return await writeFile(response, answer);
    } finally {
      this.#actions -= 1;
    }
  }

  #judgeCredentials({ headers }: IncomingMessage): Refusal | undefined {
    const { credentials } = this.#parts;
    const given = headers["x-parley-token"];
    const isToken = typeof given === "string" && credentials.isToken(given);
    if (isToken && credentials.hasCookie(headers.cookie)) return undefined;
    const tooMany = given !== undefined && !isToken && credentials.countGuess();
    const fix = "Open the address that the terminal printed.";
    if (tooMany) return refusal(429, "the key was wrong too often", fix);
    return refusal(401, "the request does not have the keys of this inspector", fix);
  }

  #events(request: IncomingMessage, response: ServerResponse): void {
    if (this.#streams.size >= MOST_STREAMS) {
      return this.#refuse(response, refusal(503, `${MOST_STREAMS} pages follow already`, "Close another tab."));
    }
    const from = Number(new URLSearchParams(request.url?.split("?")[1]).get("from") ?? 0);
    if (!Number.isSafeInteger(from) || from < 0) {
      return this.#refuse(response, refusal(400, "`from` is no number of an entry", "Reload the page."));
    }
    response.writeHead(200, { ...this.#parts.headers, "content-type": "application/x-ndjson; charset=utf-8" });
    const end = streamEvents(this.#parts.engine, response, from);
    this.#streams.add(end);
    response.once("close", () => this.#streams.delete(end));
    this.#parts.onFollowed?.();
  }

  /** A person who came by a link of another page is told what to do; nobody else sees that there is a page. */
  #refuseFrom({ headers, method, url = "" }: IncomingMessage, response: ServerResponse, refused: Refusal): void {
    const isPerson = method === "GET" && pathOf(url) === "/" && isOwnHost(headers.host, this.#parts.port);
    if (isPerson && refused.status === 403) this.#send(response, 403, CLOSED_PAGE, { connection: "close" });
    else this.#refuse(response, refused);
  }

  #refuse(response: ServerResponse, { status, problem }: Refusal): void {
    const text = JSON.stringify({ ok: false, problem });
    // What is left of the request is not read.
    this.#send(response, status, { mediaType: JSON_TYPE, bytes: Buffer.from(text) }, { connection: "close" });
  }

  #send(
    response: ServerResponse,
    status: number,
    { mediaType, bytes }: PageFile,
    more: Record<string, string> = {},
  ): void {
    response.writeHead(status, {
      ...this.#parts.headers,
      "content-type": mediaType,
      "content-length": bytes.length,
      ...more,
    });
    response.end(bytes);
  }
}

/** Finds an action by the name in a path. Names that every object has, such as `constructor`, are none. */
function actionNamed(engine: InspectorEngine, name: string): ActionName | undefined {
  // The handlers have exactly the names of the actions as members of their own.
  return Object.hasOwn(engine.handlers, name) ? (name as ActionName) : undefined;
}

/** Does an action, and gives its `ActionAnswer` as JSON, or the file that is yet to be written; a failure is an answer too. */
async function answerAction(
  engine: InspectorEngine,
  name: ActionName,
  input: Readonly<Record<string, unknown>>,
): Promise<string | WrittenFile> {
  try {
    // Handlers check what they read: the input is whatever the page sent.
    const value: unknown = await engine.handlers[name](input as never);
    return isWrittenFile(value) ? value : JSON.stringify({ ok: true, value: value ?? {} });
  } catch (reason) {
    return JSON.stringify({ ok: false, problem: shownProblem(reason) });
  }
}

/** Levels of a value. The page's forms stay far below; what is deeper would exhaust the stack of whoever walks it. */
const MOST_LEVELS = 128;

/** An object of JSON, or why there is none. */
type ReadBody = { readonly input: Readonly<Record<string, unknown>> } | { readonly refused: Refusal };

/** Reads the body of a request as a JSON object of at most so many bytes. Rejects when the connection is lost. */
async function readJsonBody(request: IncomingMessage, mostBytes: number): Promise<ReadBody> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") return wrong(415, "the body is not JSON", "Send `content-type: application/json`.");
  const tooMuch = () => wrong(413, `the body has more than ${mostBytes} bytes`, "Send less.");
  if (Number(request.headers["content-length"] ?? 0) > mostBytes) return tooMuch();
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Not destroyed when it is left, so that the refusal still reaches its sender.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    // Without an encoding, a request gives buffers.
    const part = chunk as Buffer;
    bytes += part.length;
    if (bytes > mostBytes) return tooMuch();
    chunks.push(part);
  }
  return parsed(Buffer.concat(chunks).toString());
}

function parsed(text: string): ReadBody {
  if (levelsOf(text) > MOST_LEVELS) {
    return wrong(400, `the body has more than ${MOST_LEVELS} levels`, "Send a value that is less nested.");
  }
  try {
    const input: unknown = JSON.parse(text);
    if (isRecord(input)) return { input };
  } catch {
    // Answered as any other body that is no object.
  }
  return wrong(400, "the body is not a JSON object", "Send an object.");
}

const wrong = (status: number, message: string, fix: string): ReadBody => ({ refused: refusal(status, message, fix) });

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** How deeply a text nests, before it is parsed; brackets in strings do not count. A loop: expressions overflow on long strings. */
function levelsOf(text: string): number {
  let [level, most, quoted] = [0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') quoted = !quoted;
    else if (quoted) at += sign === "\\" ? 1 : 0;
    else if (sign === "[" || sign === "{") most = Math.max(most, ++level);
    else if (sign === "]" || sign === "}") level -= 1;
  }
  return most;
}

/** Whether what an action gave is a file that is yet to be written. */
export function isWrittenFile(value: unknown): value is WrittenFile {
  return typeof value === "object" && value !== null && "parts" in value && "mediaType" in value;
}

/**
 * Writes a file as the answer of an action that gives one, each part when the page has read those before. A page that has gone gets
 * no more. Rejects where the file fails; what was written is no answer then, and its connection is to be ended.
 */
async function writeFile(response: ServerResponse, { name, mediaType, parts }: WrittenFile): Promise<void> {
  const facts = JSON.stringify({ name, mediaType }).slice(0, -1);
  if (!response.destroyed) response.write(`{"ok":true,"value":${facts},"text":"`);
  for await (const part of parts) {
    if (response.destroyed) return;
    // A text within quotes, without them.
    if (!response.write(JSON.stringify(part).slice(1, -1))) await drained(response);
  }
  if (!response.destroyed) response.end('"}}');
}

async function drained(response: ServerResponse): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  try {
    // `destroyed` may be true already, and nothing happens any more.
    if (!response.destroyed)
      await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]);
  } finally {
    ending.abort();
  }
}
