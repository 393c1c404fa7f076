import { isObject, type Params } from "../../jsonrpc/message.js";
import type { HostCatalogue } from "../catalogue/host-catalogue.js";

/** What a caller sees of the servers. */
export interface OfferView {
  readonly catalogue: HostCatalogue;
  /** Prepares the arguments of a tool, which a filter may have hidden in part. */
  toolCall(outer: string, args: unknown): PassedTarget | undefined;
}

/** What a request is for, and what it is sent with. */
export interface PassedTarget {
  readonly server: string;
  readonly params: Params;
}

/** The server that a request about one offer is for, and the parameters with the names that it knows. */
export function findTarget(method: string, params: Params, view: OfferView): PassedTarget | undefined {
  if (method === "tools/call") return toolTarget(params, view);
  const { catalogue } = view;
  if (method === "prompts/get") {
    const { name } = params;
    const found = typeof name === "string" ? catalogue.find("prompts", name) : undefined;
    return found && { server: found.server, params: { ...params, name: found.inner } };
  }
  if (method === "completion/complete") return completionTarget(params, catalogue);
  const { uri } = params;
  const found = typeof uri === "string" ? catalogue.ownerOf(uri) : undefined;
  return found && { server: found.server, params: { ...params, uri: found.inner } };
}

function toolTarget(params: Params, view: OfferView): PassedTarget | undefined {
  const { name, arguments: args } = params;
  // Nothing else of the parameters is for the server behind.
  return typeof name === "string" ? view.toolCall(name, args) : undefined;
}

function completionTarget(params: Params, catalogue: HostCatalogue): PassedTarget | undefined {
  const { ref } = params;
  if (!isObject(ref)) return undefined;
  if (ref["type"] === "ref/prompt" && typeof ref["name"] === "string") {
    const found = catalogue.find("prompts", ref["name"]);
    return found && { server: found.server, params: { ...params, ref: { ...ref, name: found.inner } } };
  }
  if (typeof ref["uri"] !== "string") return undefined;
  const found = catalogue.find("resourceTemplates", ref["uri"]) ?? catalogue.ownerOf(ref["uri"]);
  return found && { server: found.server, params: { ...params, ref: { ...ref, uri: found.inner } } };
}
