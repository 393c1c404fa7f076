import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadDefinitions, type SchemaDefinitions } from "./schema-definitions.js";
import { isWireObject, type KnownExtensions, kindOf, type MessageOracle, type WireObject } from "./wire-message.js";

/** The judge that holds each revision to its own published `schema.json` in `<folder>/<revision>/`. */
export interface SchemaOracle extends MessageOracle {
  /** Says what is wrong with a value under a named definition of a revision. */
  checkDefinition(revision: string, name: string, value: unknown): string[];
}

/** Opens the folder of published schemas, or returns undefined where it is not present. */
export function openSchemaOracle(folder: string, extensions: KnownExtensions): SchemaOracle | undefined {
  if (!existsSync(folder)) return undefined;
  const loaded = new Map<string, SchemaDefinitions>();
  const definitionsOf = (revision: string): SchemaDefinitions => {
    const known = loaded.get(revision) ?? loadDefinitions(join(folder, revision, "schema.json"));
    loaded.set(revision, known);
    return known;
  };
  return {
    name: "published schema.json",
    checkDefinition: (revision, name, value) => definitionsOf(revision).check(name, value),
    validate(revision, sender, message, requestMethod) {
      if (!existsSync(join(folder, revision, "schema.json"))) return [`there is no published schema of ${revision}`];
      const judge = { definitions: definitionsOf(revision), revision, sender, extensions };
      switch (kindOf(message)) {
        case "request":
          return checkCall(judge, "JSONRPCRequest", message);
        case "notification":
          return checkCall(judge, "JSONRPCNotification", message);
        case "result":
          return [...checkAnswerer(judge), ...checkResult(judge, message, requestMethod)];
        case "error":
          return [...checkAnswerer(judge), ...checkError(judge, message)];
        default:
          return ["the message is no request, notification, result or error"];
      }
    },
  };
}

interface Judge {
  definitions: SchemaDefinitions;
  revision: string;
  sender: "client" | "server";
  extensions: KnownExtensions;
}

function checkCall(judge: Judge, envelope: string, message: WireObject): string[] {
  const { definitions, sender, extensions, revision } = judge;
  const problems = definitions.check(envelope, message);
  const method = String(message.method);
  const name = definitions.nameOfMethod(method);
  if (name === undefined) {
    return extensions.methods.has(method) ? problems : [...problems, `${revision} has no method ${method}`];
  }
  // In the stateless revision the definition stands, but only for use inside a result, and no sender is named.
  if (!definitions.sendersOf(method).has(sender)) problems.push(`a ${sender} does not send ${method} in ${revision}`);
  return [...problems, ...definitions.check(name, message)];
}

/** A revision whose schema knows no requests from the server has nothing for the client to answer. */
function checkAnswerer(judge: Judge): string[] {
  if (judge.sender === "server" || judge.definitions.has("ServerRequest")) return [];
  return [`a client sends no responses in ${judge.revision}`];
}

function checkResult(judge: Judge, message: WireObject, requestMethod: string | undefined): string[] {
  const { definitions, extensions } = judge;
  const envelope = definitions.has("JSONRPCResultResponse") ? "JSONRPCResultResponse" : "JSONRPCResponse";
  const problems = definitions.check(envelope, message);
  const requestName = requestMethod === undefined ? undefined : definitions.nameOfMethod(requestMethod);
  const { result } = message;
  if (requestName === undefined || !isWireObject(result)) return problems;
  const base = requestName.replace(/Request$/, "");
  const { resultType } = result;
  if (definitions.has("InputRequiredResult") && resultType !== "complete") {
    if (resultType === "input_required") return [...problems, ...checkInterim(judge, base, result)];
    if (typeof resultType === "string" && extensions.resultTypes.has(resultType)) return problems;
    return [...problems, `resultType ${JSON.stringify(resultType)} is not known`];
  }
  if (isWireObject(result.task) && definitions.has("CreateTaskResult")) {
    return [...problems, ...definitions.check("CreateTaskResult", result)];
  }
  const name = definitions.has(`${base}Result`) ? `${base}Result` : "EmptyResult";
  return [...problems, ...definitions.check(name, result)];
}

function checkInterim(judge: Judge, base: string, result: WireObject): string[] {
  const problems = judge.definitions.check("InputRequiredResult", result);
  if (!judge.definitions.mayAsk(base)) problems.push(`${base} is not answered with questions`);
  // The prose demands at least one of the two; the schema cannot say so.
  if (result.inputRequests === undefined && result.requestState === undefined) {
    problems.push("an interim result has inputRequests or requestState");
  }
  return problems;
}

function checkError(judge: Judge, message: WireObject): string[] {
  const { definitions } = judge;
  const problems: string[] = [];
  if (definitions.has("JSONRPCErrorResponse")) {
    problems.push(...definitions.check("JSONRPCErrorResponse", message));
  } else {
    // The older schemas demand an id even where JSON-RPC itself says that it could not be read and is null.
    const unreadable = message.id === undefined || message.id === null;
    problems.push(...definitions.check("JSONRPCError", unreadable ? { ...message, id: 0 } : message));
  }
  const code = isWireObject(message.error) ? message.error.code : undefined;
  const name = typeof code === "number" ? definitions.nameOfError(code) : undefined;
  return name === undefined ? problems : [...problems, ...definitions.check(name, message)];
}
