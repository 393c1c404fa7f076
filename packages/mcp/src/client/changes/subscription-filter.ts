import { hasCapability, type ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { SubscriptionFilter } from "../../protocol/features/subscriptions.js";
import { isPartOf } from "../contract/cache.js";
import type { Change } from "./change-queue.js";

/** The changes to subscribe to: resources by URI, and lists. */
export interface SubscriptionTarget {
  /** URIs of resources whose contents to follow, or `true` to follow the list: resources added or removed. */
  resources?: boolean | string | readonly string[] | undefined;
  /** True to follow the list of tools: added, removed or changed. */
  tools?: boolean | undefined;
  /** True to follow the list of prompts: added, removed or changed. */
  prompts?: boolean | undefined;
  /** The same as `resources: true`, for use together with URIs. */
  resourceList?: boolean | undefined;
}

/** Throws for a target that cannot be subscribed to. */
export function checkTarget(target: SubscriptionTarget): SubscriptionTarget {
  for (const [name, value] of Object.entries(target)) {
    const flag = name === "tools" || name === "prompts" || name === "resourceList" || name === "resources";
    if (value === undefined || (flag && typeof value === "boolean")) continue;
    const uris = typeof value === "string" ? [value] : value;
    if (name === "resources" && Array.isArray(uris) && uris.every((uri) => typeof uri === "string")) continue;
    throw new McpError(
      "invalid_params",
      flag ? `\`${name}\` of a subscription has the wrong type` : `\`${name}\` is not a list to subscribe to`,
      {
        fix: "Pass `tools: true`, `prompts: true`, `resources: true` for lists, and addresses as `resources: [uri]`.",
      },
    );
  }
  return target;
}

/** Converts a target to its form on the wire. */
export function filterOf(target: SubscriptionTarget): SubscriptionFilter {
  const { resources = [] } = target;
  const uris = typeof resources === "boolean" ? [] : typeof resources === "string" ? [resources] : resources;
  return {
    ...(target.tools === true ? { toolsListChanged: true } : {}),
    ...(target.prompts === true ? { promptsListChanged: true } : {}),
    ...(target.resourceList === true || resources === true ? { resourcesListChanged: true } : {}),
    ...(uris.length > 0 ? { resourceSubscriptions: [...new Set(uris)] } : {}),
  };
}

/** The union of several filters. */
export function unionOf(filters: Iterable<SubscriptionFilter>): SubscriptionFilter {
  const all = [...filters];
  const some = (key: "toolsListChanged" | "promptsListChanged" | "resourcesListChanged") =>
    all.some((filter) => filter[key] === true);
  return filterOf({
    tools: some("toolsListChanged"),
    prompts: some("promptsListChanged"),
    resourceList: some("resourcesListChanged"),
    resources: all.flatMap((filter) => filter.resourceSubscriptions ?? []),
  });
}

/** The part of `filter` that `offered` includes. */
export function intersectionOf(filter: SubscriptionFilter, offered: SubscriptionFilter): SubscriptionFilter {
  const uris = new Set(offered.resourceSubscriptions ?? []);
  return filterOf({
    tools: filter.toolsListChanged === true && offered.toolsListChanged === true,
    prompts: filter.promptsListChanged === true && offered.promptsListChanged === true,
    resourceList: filter.resourcesListChanged === true && offered.resourcesListChanged === true,
    resources: (filter.resourceSubscriptions ?? []).filter((uri) => uris.has(uri)),
  });
}

/** The part of `filter` that a server with these capabilities can serve. */
export function servable(filter: SubscriptionFilter, capabilities: ServerCapabilities): SubscriptionFilter {
  return intersectionOf(filter, {
    toolsListChanged: hasCapability(capabilities, "tools.listChanged"),
    promptsListChanged: hasCapability(capabilities, "prompts.listChanged"),
    resourcesListChanged: hasCapability(capabilities, "resources.listChanged"),
    resourceSubscriptions: hasCapability(capabilities, "resources.subscribe")
      ? (filter.resourceSubscriptions ?? [])
      : [],
  });
}

export function isEmpty(filter: SubscriptionFilter): boolean {
  return Object.keys(filter).length === 0;
}

/** True if `wide` includes all of `narrow`. */
export function covers(wide: SubscriptionFilter, narrow: SubscriptionFilter): boolean {
  return sizeOf(intersectionOf(narrow, wide)) === sizeOf(narrow);
}

function sizeOf(filter: SubscriptionFilter): number {
  return changesOf(filter).length;
}

/** One `missed` change for every part of a filter. */
export function changesOf(filter: SubscriptionFilter): Change[] {
  const changes: Change[] = (filter.resourceSubscriptions ?? []).map((uri) => ({
    kind: "resource",
    uri,
    missed: true,
  }));
  if (filter.toolsListChanged === true) changes.push({ kind: "tools", missed: true });
  if (filter.promptsListChanged === true) changes.push({ kind: "prompts", missed: true });
  if (filter.resourcesListChanged === true) changes.push({ kind: "resources", missed: true });
  return changes;
}

/** The change that a notification announces, if this filter includes it. */
export function changeFor(filter: SubscriptionFilter, method: string, uri: unknown): Change | undefined {
  switch (method) {
    case "notifications/tools/list_changed":
      return filter.toolsListChanged === true ? { kind: "tools", missed: false } : undefined;
    case "notifications/prompts/list_changed":
      return filter.promptsListChanged === true ? { kind: "prompts", missed: false } : undefined;
    case "notifications/resources/list_changed":
      return filter.resourcesListChanged === true ? { kind: "resources", missed: false } : undefined;
    case "notifications/resources/updated":
      // The notification may name a part of a subscribed resource.
      if (typeof uri !== "string" || !filter.resourceSubscriptions?.some((wanted) => isPartOf(uri, wanted))) return;
      return { kind: "resource", uri, missed: false };
    default:
      return undefined;
  }
}
