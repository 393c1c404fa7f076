import { isObject } from "../../jsonrpc/message.js";
import { STRUCTURED_KEY } from "../../protocol/meta.js";
import { featuresOf, type Revision, type RevisionFeatures } from "../../protocol/revisions.js";
import { promisesObject, wrappedResult, wrappedSchema } from "../wrapped-output.js";

type Members = Record<string, unknown>;

/**
 * Converts a result from the newest form to that of an older revision: drops unsupported parts or expresses them in
 * another way. Returns the same object if nothing changes.
 */
export function downgradeResult(
  method: string,
  result: Members,
  features: RevisionFeatures,
  wrapsOutput = false,
): Members {
  const rewrite = Object.hasOwn(REWRITES, method) ? REWRITES[method] : undefined;
  return rewrite === undefined ? result : rewrite(result, features, wrapsOutput);
}

/** Calls `downgradeResult` with the features of a revision. */
export function resultFor(result: Members, method: string, revision: Revision): Members {
  return downgradeResult(method, result, featuresOf(revision));
}

/** Like `resultFor`, for a tool whose output schema does not guarantee an object. */
export function wrappedResultFor(result: Members, method: string, revision: Revision): Members {
  return downgradeResult(method, result, featuresOf(revision), true);
}

const REWRITES: Record<string, (result: Members, features: RevisionFeatures, wrapsOutput: boolean) => Members> = {
  initialize: (result, features) => {
    const shaped = withMember(result, "serverInfo", (info) => (isObject(info) ? downgradeItem(info, features) : info));
    if (features.completionsCapability) return shaped;
    // The first revision has `completion/complete` but no capability for it.
    return withMember(shaped, "capabilities", (all) => (isObject(all) ? without(all, ["completions"]) : all));
  },
  "tools/list": (result, features) => mapMember(result, "tools", (tool) => downgradeTool(tool, features)),
  "resources/list": (result, features) => mapMember(result, "resources", (item) => downgradeItem(item, features)),
  "resources/templates/list": (result, features) =>
    mapMember(result, "resourceTemplates", (item) => downgradeItem(item, features)),
  "prompts/list": (result, features) => mapMember(result, "prompts", (item) => downgradeItem(item, features)),
  "prompts/get": (result, features) =>
    mapMember(result, "messages", (message) =>
      withMember(message, "content", (block) => downgradeBlock(block, features)),
    ),
  "tools/call": downgradeCallResult,
};

function downgradeCallResult(result: Members, features: RevisionFeatures, wrapsOutput: boolean): Members {
  const shaped = features.resourceLink
    ? result
    : mapMember(result, "content", (block) => downgradeBlock(block, features) as Members);
  if (!Object.hasOwn(shaped, "structuredContent")) return shaped;
  if (features.structuredContent === "none") return asText(shaped);
  return isObject(shaped["structuredContent"]) && !wrapsOutput ? shaped : wrappedResult(shaped);
}

/**
 * Moves structured content to a text block. A mark in `_meta` lets clients of this library restore the structured
 * content.
 */
function asText({ structuredContent, ...shaped }: Members): Members {
  const text = JSON.stringify(structuredContent);
  const blocks: unknown[] = Array.isArray(shaped["content"]) ? shaped["content"] : [];
  const at = blocks.findIndex((block) => isObject(block) && block["type"] === "text" && block["text"] === text);
  const content = at < 0 ? [...blocks, { type: "text", text }] : blocks;
  const mark = { [STRUCTURED_KEY]: at < 0 ? blocks.length : at };
  return { ...shaped, content, _meta: isObject(shaped["_meta"]) ? { ...shaped["_meta"], ...mark } : mark };
}

function downgradeTool(tool: Members, features: RevisionFeatures): Members {
  const dropped = features.toolAnnotations ? [] : ["annotations"];
  if (features.structuredContent === "none") dropped.push("outputSchema");
  const shaped = without(downgradeItem(tool, features), dropped);
  return withMember(shaped, "outputSchema", (schema) =>
    !isObject(schema) || promisesObject(schema) ? schema : wrappedSchema(schema),
  );
}

/** Drops the members of a listed item, or of an implementation, that the revision lacks. */
function downgradeItem(item: Members, features: RevisionFeatures): Members {
  if (features.icons) return item;
  const dropped = ["icons", "websiteUrl", "execution"];
  // An implementation (recognised by `version`) got its `description` in the same revision as icons. Tools and other
  // items have a description in every revision.
  if (Object.hasOwn(item, "version")) dropped.push("description");
  // `_meta` stays, although the first revisions do not define it here: their schemas allow additional members, and
  // extensions such as apps need `_meta`.
  if (!features.title) dropped.push("title");
  const shaped = without(item, dropped);
  if (features.title) return shaped;
  return mapMember(shaped, "arguments", (argument) => without(argument, ["title"]));
}

/** Converts a content block of a newer type to text. */
function downgradeBlock(block: unknown, features: RevisionFeatures): unknown {
  if (!isObject(block)) return block;
  if (block["type"] === "audio" && !features.audio) {
    return { type: "text", text: `[audio of type ${String(block["mimeType"])}]` };
  }
  if (block["type"] === "resource_link" && !features.resourceLink) {
    return {
      type: "text",
      text: `[${String(block["title"] ?? block["name"] ?? "resource")}](${String(block["uri"])})`,
    };
  }
  return block;
}

function without(item: Members, keys: readonly string[]): Members {
  if (!keys.some((key) => Object.hasOwn(item, key))) return item;
  return Object.fromEntries(Object.entries(item).filter(([key]) => !keys.includes(key)));
}

function withMember(item: Members, key: string, change: (value: unknown) => unknown): Members {
  if (!Object.hasOwn(item, key)) return item;
  const changed = change(item[key]);
  return changed === item[key] ? item : { ...item, [key]: changed };
}

function mapMember(item: Members, key: string, change: (value: Members) => Members): Members {
  const list = item[key];
  if (!Array.isArray(list)) return item;
  let same = true;
  const mapped = list.map((value: unknown) => {
    const changed = isObject(value) ? change(value) : value;
    same &&= changed === value;
    return changed;
  });
  return same ? item : { ...item, [key]: mapped };
}

/**
 * Converts the parameters of a notification to an older revision. Returns undefined if the revision lacks the
 * notification.
 */
export function downgradeNotification(method: string, params: object, features: RevisionFeatures): object | undefined {
  if (method === "notifications/elicitation/complete" && !features.elicitationIds) return undefined;
  if (method !== "notifications/progress" || features.progressMessage) return params;
  return without(params as Members, ["message"]);
}
