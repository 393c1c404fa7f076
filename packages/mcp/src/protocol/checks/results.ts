import { isObject } from "../../jsonrpc/message.js";
import type { CompleteResult } from "../features/completion.js";
import {
  CONTENT_TYPES,
  type ContentBlock,
  isContentBlock,
  isResourceContents,
  type ResourceContents,
} from "../features/content.js";
import type { GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage } from "../features/prompts.js";
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
} from "../features/resources.js";
import type { CallToolResult, ListToolsResult, Tool } from "../features/tools.js";
import type { Implementation } from "../implementation.js";
import type { DiscoverResult, InitializeResult } from "../lifecycle.js";
import {
  aBoolean,
  aNumber,
  anArray,
  anObject,
  arrayOf,
  aString,
  aWebAddress,
  oneOf,
  readItems,
  readShape,
  type Shape,
  someIcons,
  type Test,
  withSafeIcons,
} from "./shape.js";

/** A result from a peer after a tolerant check. */
export interface CheckedResult<R> {
  /** The usable part of the result. Undefined if the result is unusable. */
  result: R | undefined;
  /** The reasons for dropped members. A strict caller rejects a result that has any problems. */
  problems: string[];
}

/** A checked page of a list. */
export interface CheckedList<R, T> extends CheckedResult<R> {
  /** The valid items. Empty if the page is unusable. */
  items: T[];
}

const cacheHints = { ttlMs: aNumber, cacheScope: oneOf("public", "private") } as const;
const described = { title: aString, description: aString, icons: someIcons, _meta: anObject } as const;

/**
 * Accepts a schema without `type`, because many servers omit it. Only the type "object" is allowed, so `readTool` adds
 * a missing type.
 */
const anObjectSchema: Test = {
  expected: 'a JSON Schema of type "object"',
  passes: (value) => isObject(value) && (value.type === "object" || value.type === undefined),
};

const toolShape: Shape<Tool> = {
  required: { name: aString, inputSchema: anObjectSchema },
  optional: { ...described, outputSchema: anObject, annotations: anObject, execution: anObject },
};

const resourceShape: Shape<Resource> = {
  required: { uri: aString, name: aString },
  optional: { ...described, mimeType: aString, size: aNumber, annotations: anObject },
};

const templateShape: Shape<ResourceTemplate> = {
  required: { uriTemplate: aString, name: aString },
  optional: { ...described, mimeType: aString, annotations: anObject },
};

const argumentShape: Shape<PromptArgument> = {
  required: { name: aString },
  optional: { title: aString, description: aString, required: aBoolean },
};

const promptShape: Shape<Prompt> = {
  required: { name: aString },
  optional: { ...described, arguments: anArray },
};

const page = { nextCursor: aString, _meta: anObject, ...cacheHints } as const;
const toolPage: Shape<ListToolsResult> = { required: { tools: anArray }, optional: page };
const resourcePage: Shape<ListResourcesResult> = { required: { resources: anArray }, optional: page };
const templatePage: Shape<ListResourceTemplatesResult> = { required: { resourceTemplates: anArray }, optional: page };
const promptPage: Shape<ListPromptsResult> = { required: { prompts: anArray }, optional: page };

/** Reads a result of `tools/list`. Drops invalid tools. */
export function checkToolList(value: unknown): CheckedList<ListToolsResult, Tool> {
  return checkList(value, "tools", toolPage, readTool);
}

/** Reads a result of `resources/list`. Drops invalid resources. */
export function checkResourceList(value: unknown): CheckedList<ListResourcesResult, Resource> {
  return checkList(value, "resources", resourcePage, as(resourceShape));
}

/** Reads a result of `resources/templates/list`. Drops invalid templates. */
export function checkResourceTemplateList(value: unknown): CheckedList<ListResourceTemplatesResult, ResourceTemplate> {
  return checkList(value, "resourceTemplates", templatePage, as(templateShape));
}

/** Reads a result of `prompts/list`. Drops invalid prompts and arguments. */
export function checkPromptList(value: unknown): CheckedList<ListPromptsResult, Prompt> {
  return checkList(value, "prompts", promptPage, readPrompt);
}

/**
 * Accepts null, which some servers send for "absent". Any other value that is not a boolean makes the result unusable,
 * so that it does not count as success.
 */
const aBooleanOrAbsent: Test = {
  expected: "a boolean",
  passes: (value) => value === undefined || value === null || typeof value === "boolean",
};

const callShape: Shape<CallToolResult> = {
  required: { content: anArray, isError: aBooleanOrAbsent },
  optional: { _meta: anObject, isError: aBoolean },
};

/**
 * Reads a result of `tools/call` and drops invalid content blocks. A result without `content` is usable only if it has
 * `structuredContent`, so that an empty result does not look like an answer.
 */
export function checkCallToolResult(value: unknown): CheckedResult<CallToolResult> {
  const problems: string[] = [];
  if (isObject(value) && value.content === undefined && value.structuredContent !== undefined) {
    problems.push("the result has no content");
    value = { ...value, content: [] };
  }
  const read = (items: ContentBlock[]) =>
    dropInvalid(items, isContentBlock, "content", "a content block", problems, (block) => block);
  return checkMember(value, callShape, "content", read, problems);
}

/** Reads a result of `resources/read`. Drops invalid entries. */
export function checkReadResourceResult(value: unknown): CheckedResult<ReadResourceResult> {
  const problems: string[] = [];
  const shape = { required: { contents: anArray }, optional: { _meta: anObject, ...cacheHints } };
  const read = (items: ResourceContents[]) =>
    dropInvalid(items, isResourceContents, "contents", "text or a blob with a uri", problems);
  return checkMember<ReadResourceResult, "contents">(value, shape, "contents", read, problems);
}

/** Reads a result of `prompts/get`. Drops invalid messages. */
export function checkGetPromptResult(value: unknown): CheckedResult<GetPromptResult> {
  const problems: string[] = [];
  const shape = { required: { messages: anArray }, optional: { _meta: anObject, description: aString } };
  const contentOf = (message: unknown) => (isObject(message) && isRole(message.role) ? message.content : undefined);
  const read = (items: PromptMessage[]) =>
    dropInvalid(items, isPromptMessage, "messages", "a role with a content block", problems, contentOf);
  return checkMember<GetPromptResult, "messages">(value, shape, "messages", read, problems);
}

/** Reads a result of `completion/complete`. */
export function checkCompleteResult(value: unknown): CheckedResult<CompleteResult> {
  const problems: string[] = [];
  const shape = { required: { completion: anObject }, optional: { _meta: anObject } };
  const inner: Shape<CompleteResult["completion"]> = {
    required: { values: arrayOf(aString) },
    optional: { total: aNumber, hasMore: aBoolean },
  };
  const read = (completion: unknown) => readShape(completion, inner, "completion", problems);
  return checkMember<CompleteResult, "completion">(value, shape, "completion", read, problems);
}

const implementationShape: Shape<Implementation> = {
  required: { name: aString, version: aString },
  optional: { ...described, websiteUrl: aWebAddress },
};

/** Reads a server's `serverInfo`. The result is undefined if the name or the version is missing. */
export function checkImplementation(value: unknown): CheckedResult<Implementation> {
  const problems: string[] = [];
  return { result: readShape(value, implementationShape, "serverInfo", problems), problems };
}

/** Reads a result of `initialize`. */
export function checkInitializeResult(value: unknown): CheckedResult<InitializeResult> {
  const problems: string[] = [];
  const shape: Shape<InitializeResult> = {
    required: { protocolVersion: aString, capabilities: anObject, serverInfo: anObject },
    optional: { instructions: aString, _meta: anObject },
  };
  const read = (info: unknown) => readShape(info, implementationShape, "serverInfo", problems);
  return checkMember(value, shape, "serverInfo", read, problems);
}

/** Reads a result of `server/discover`. */
export function checkDiscoverResult(value: unknown): CheckedResult<DiscoverResult> {
  const problems: string[] = [];
  const shape: Shape<DiscoverResult> = {
    required: { supportedVersions: arrayOf(aString), capabilities: anObject },
    optional: { instructions: aString, _meta: anObject, ...cacheHints },
  };
  return { result: readShape(value, shape, "the result", problems), problems };
}

/** Reads a result and then its member `key`. Without a valid member the result is unusable. */
function checkMember<R extends object, K extends keyof R>(
  value: unknown,
  shape: Shape<R>,
  key: K,
  read: (member: R[K]) => R[K] | undefined,
  problems: string[],
): CheckedResult<R> {
  const result = readShape(value, shape, "the result", problems);
  const member = result && read(result[key]);
  if (result === undefined || member === undefined) return { result: undefined, problems };
  return { result: member === result[key] ? result : { ...result, [key]: member }, problems };
}

type ReadItem<T> = (item: unknown, at: string, problems: string[]) => T | undefined;

function as<T extends object>(shape: Shape<T>): ReadItem<T> {
  return (item, at, problems) => readShape(item, shape, at, problems);
}

function checkList<K extends string, T, R extends { [key in K]: T[] }>(
  value: unknown,
  key: K,
  shape: Shape<R>,
  read: ReadItem<T>,
): CheckedList<R, T> {
  const problems: string[] = [];
  const result = readShape<R>(value, shape, "the result", problems);
  if (result === undefined) return { result, items: [], problems };
  const before = problems.length;
  const items = readItems(result[key], (item, index) => read(item, placeOf(key, index, item), problems));
  return { result: problems.length === before ? result : { ...result, [key]: items }, items, problems };
}

function readTool(item: unknown, at: string, problems: string[]): Tool | undefined {
  const tool = readShape(item, toolShape, at, problems);
  if (tool === undefined || tool.inputSchema.type === "object") return tool;
  problems.push(`${at}.inputSchema has no type; assuming "object"`);
  return { ...tool, inputSchema: { ...tool.inputSchema, type: "object" } };
}

function readPrompt(item: unknown, at: string, problems: string[]): Prompt | undefined {
  const prompt = readShape(item, promptShape, at, problems);
  if (prompt?.arguments === undefined) return prompt;
  const before = problems.length;
  const sound = readItems(prompt.arguments, (argument, index) =>
    readShape(argument, argumentShape, `${at}.arguments[${index}]`, problems),
  );
  return problems.length === before ? prompt : { ...prompt, arguments: sound };
}

function isPromptMessage(value: unknown): value is PromptMessage {
  return isObject(value) && isRole(value.role) && isContentBlock(value.content);
}

function isRole(value: unknown): boolean {
  return value === "user" || value === "assistant";
}

/**
 * Drops items that fail the guard, except content of an unknown type: the server may be newer than this library.
 * Returns the same array if nothing is wrong.
 */
function dropInvalid<T>(
  items: readonly unknown[] & T[],
  guard: (item: unknown) => item is T,
  name: string,
  expected: string,
  problems: string[],
  blockOf?: (item: unknown) => unknown,
): T[] {
  const before = problems.length;
  const sound = readItems(items, (item, index) => {
    const block = blockOf?.(item);
    if (guard(item)) return withSafeIcons(item, `${name}[${index}]`, problems, block);
    if (isObject(block) && typeof block.type === "string" && !CONTENT_TYPES.includes(block.type)) {
      problems.push(`${name}[${index}] has the unknown type ${JSON.stringify(block.type.slice(0, 64))}`);
      // `T` lacks this content type. Applications that switch over `type` ignore the block, others can use it.
      return item as T;
    }
    problems.push(`${name}[${index}] is not ${expected}; ignored`);
    return undefined;
  });
  return problems.length === before ? items : sound;
}

/** The position of an item with its name, so that the warning makes sense without the list. */
function placeOf(list: string, index: number, item: unknown): string {
  const name = isObject(item) && typeof item.name === "string" ? ` (${item.name.slice(0, 64)})` : "";
  return `${list}[${index}]${name}`;
}
