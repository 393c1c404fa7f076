import { isObject } from "../../jsonrpc/message.js";
import {
  checkReadResourceResult,
  checkResourceList,
  checkResourceTemplateList,
} from "../../protocol/checks/results.js";
import { McpError } from "../../protocol/error.js";
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
} from "../../protocol/features/resources.js";
import { readResult } from "../call/read-result.js";
import type { Requester } from "../call/requester.js";
import type { CallOptions } from "../contract/options.js";
import { walkOffers } from "./pages.js";

/** Returns one page of the server's resources. Omits malformed resources with a warning. */
export async function listResources(
  requester: Requester,
  cursor: string | undefined,
  options?: CallOptions,
): Promise<ListResourcesResult> {
  const answer = await requester.call("resources/list", cursor === undefined ? undefined : { cursor }, options);
  return readResult(checkResourceList(answer), "the answer to resources/list", requester, { method: "resources/list" });
}

/** Returns one page of the server's resource templates. Omits malformed templates with a warning. */
export async function listResourceTemplates(
  requester: Requester,
  cursor: string | undefined,
  options?: CallOptions,
): Promise<ListResourceTemplatesResult> {
  const method = "resources/templates/list";
  const answer = await requester.call(method, cursor === undefined ? undefined : { cursor }, options);
  return readResult(checkResourceTemplateList(answer), `the answer to ${method}`, requester, { method });
}

export function walkResources(requester: Requester, options?: CallOptions): AsyncGenerator<Resource, void, undefined> {
  return walkOffers("resources", (cursor) => listResources(requester, cursor, options));
}

export function walkResourceTemplates(
  requester: Requester,
  options?: CallOptions,
): AsyncGenerator<ResourceTemplate, void, undefined> {
  return walkOffers("resourceTemplates", (cursor) => listResourceTemplates(requester, cursor, options));
}

/**
 * Reads a resource. Rejects with kind `resource_not_found` if there is none, independent of the revision's error code.
 */
export async function readResource(
  requester: Requester,
  uri: string,
  options?: CallOptions,
): Promise<ReadResourceResult> {
  const answer = await requester.call("resources/read", { uri }, options).catch((error: unknown) => {
    throw isNotFound(error, uri) ? notFound(error) : error;
  });
  return readResult(checkReadResourceResult(answer), `the contents of ${uri}`, requester, {
    method: "resources/read",
    target: uri,
  });
}

/**
 * True if the error means that the resource does not exist. The newest revision has no separate code for this case. The
 * URI in `data` distinguishes it from other invalid parameters.
 */
function isNotFound(error: unknown, uri: string): error is McpError {
  return McpError.is(error) && error.kind === "invalid_params" && isObject(error.data) && error.data["uri"] === uri;
}

function notFound(cause: McpError): McpError {
  const { message, code, data, remote, operation } = cause;
  return new McpError("resource_not_found", message, { code, data, remote, cause, operation });
}
