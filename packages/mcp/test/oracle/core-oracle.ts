import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { isWireObject, type KnownExtensions, kindOf, type MessageOracle, type WireObject } from "./wire-message.js";

/** What is used of a schema of the official package, so that no type of its schema library is needed here. */
interface CoreSchema {
  shape?: { method?: { value?: unknown } };
  safeParse(value: unknown): { success: boolean; error?: { issues: { path: PropertyKey[]; message: string }[] } };
}

type CoreSchemas = ReadonlyMap<string, CoreSchema>;

/**
 * The judge made of the schemas that the official SDK publishes as `@modelcontextprotocol/core`. They are one set for all
 * revisions, so they are milder than the published `schema.json`. Undefined where the package is not installed.
 */
export async function openCoreOracle(entry: string, extensions: KnownExtensions): Promise<MessageOracle | undefined> {
  if (!existsSync(entry)) return undefined;
  const module: unknown = await import(/* @vite-ignore */ pathToFileURL(entry).href);
  if (typeof module !== "object" || module === null) return undefined;
  const schemas = new Map<string, CoreSchema>();
  for (const [name, value] of Object.entries(module)) if (isCoreSchema(value)) schemas.set(name, value);
  const byMethod = indexByMethod(schemas);
  return {
    name: "@modelcontextprotocol/core",
    validate(revision, _sender, message, requestMethod) {
      const judge = { schemas, byMethod, revision, extensions };
      switch (kindOf(message)) {
        case "request":
          return [...check(schemas, "JSONRPCRequestSchema", message), ...checkCall(judge, message)];
        case "notification":
          return [...check(schemas, "JSONRPCNotificationSchema", message), ...checkCall(judge, message)];
        case "result":
          return [
            ...check(schemas, "JSONRPCResultResponseSchema", message),
            ...checkResult(judge, message.result, requestMethod),
          ];
        case "error":
          return check(schemas, "JSONRPCErrorResponseSchema", withReadableId(message));
        default:
          return ["the message is no request, notification, result or error"];
      }
    },
  };
}

interface Judge {
  schemas: CoreSchemas;
  byMethod: ReadonlyMap<string, string>;
  revision: string;
  extensions: KnownExtensions;
}

function isCoreSchema(value: unknown): value is CoreSchema {
  return typeof value === "object" && value !== null && "safeParse" in value && typeof value.safeParse === "function";
}

function indexByMethod(schemas: CoreSchemas): Map<string, string> {
  const byMethod = new Map<string, string>();
  for (const [name, schema] of schemas) {
    const method = schema.shape?.method?.value;
    if (typeof method === "string") byMethod.set(method, name);
  }
  return byMethod;
}

function check(schemas: CoreSchemas, name: string, value: unknown): string[] {
  const outcome = schemas.get(name)?.safeParse(value);
  if (outcome === undefined) return [`there is no schema ${name}`];
  if (outcome.success) return [];
  const issues = outcome.error?.issues ?? [];
  return issues.slice(0, 4).map((issue) => `${name}: /${issue.path.map(String).join("/")} ${issue.message}`);
}

function checkCall(judge: Judge, message: WireObject): string[] {
  const method = String(message.method);
  const name = judge.byMethod.get(method);
  if (name === undefined) return judge.extensions.methods.has(method) ? [] : [`no schema for ${method}`];
  return check(judge.schemas, name, { method: message.method, params: message.params });
}

function checkResult(judge: Judge, result: unknown, requestMethod: string | undefined): string[] {
  const requestName = requestMethod === undefined ? undefined : judge.byMethod.get(requestMethod);
  if (requestName === undefined || !isWireObject(result)) return [];
  if (result.resultType === "input_required") return checkQuestions(judge, result.inputRequests);
  if (typeof result.resultType === "string" && judge.extensions.resultTypes.has(result.resultType)) return [];
  if (isWireObject(result.task)) return check(judge.schemas, "CreateTaskResultSchema", result);
  if (requestMethod === "sampling/createMessage") {
    return check(judge.schemas, "CreateMessageResultWithToolsSchema", result);
  }
  const name = requestName.replace(/RequestSchema$/, "ResultSchema");
  return check(judge.schemas, judge.schemas.has(name) ? name : "EmptyResultSchema", result);
}

function checkQuestions(judge: Judge, questions: unknown): string[] {
  if (!isWireObject(questions)) return [];
  return Object.values(questions).flatMap((question) => {
    if (!isWireObject(question)) return ["a question is not an object"];
    // The package has the 2025-11-25 form only, where an address comes with an id for its completion notice.
    const params = isWireObject(question.params) ? { elicitationId: "none", ...question.params } : question.params;
    return checkCall(judge, { method: question.method, params });
  });
}

function withReadableId(message: WireObject): WireObject {
  if (message.id !== null) return message;
  const { id: _unreadable, ...rest } = message;
  return rest;
}
