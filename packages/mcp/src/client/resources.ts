import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
} from "../protocol/resources.js";
import { checkReadResourceResult, checkResourceList, checkResourceTemplateList } from "../protocol/results.js";
import type { Requester } from "./caller.js";
import type { CallOptions } from "./options.js";
import { walkPages } from "./pages.js";
import { readResult } from "./read-result.js";

/** One page of the server's resources. Malformed ones are left out with a warning. */
export async function listResources(
  requester: Requester,
  cursor: string | undefined,
  options?: CallOptions,
): Promise<ListResourcesResult> {
  const answer = await requester.call("resources/list", cursor === undefined ? undefined : { cursor }, options);
  return readResult(checkResourceList(answer), "the answer to resources/list", requester);
}

/** One page of the server's resource templates. Malformed ones are left out with a warning. */
export async function listResourceTemplates(
  requester: Requester,
  cursor: string | undefined,
  options?: CallOptions,
): Promise<ListResourceTemplatesResult> {
  const method = "resources/templates/list";
  const answer = await requester.call(method, cursor === undefined ? undefined : { cursor }, options);
  return readResult(checkResourceTemplateList(answer), `the answer to ${method}`, requester);
}

export function walkResources(requester: Requester, options?: CallOptions): AsyncGenerator<Resource, void, undefined> {
  return walkPages("resources/list", async (cursor) => {
    const { resources, nextCursor } = await listResources(requester, cursor, options);
    return { items: resources, nextCursor };
  });
}

export function walkResourceTemplates(
  requester: Requester,
  options?: CallOptions,
): AsyncGenerator<ResourceTemplate, void, undefined> {
  return walkPages("resources/templates/list", async (cursor) => {
    const { resourceTemplates, nextCursor } = await listResourceTemplates(requester, cursor, options);
    return { items: resourceTemplates, nextCursor };
  });
}

/** The contents at one address. */
export async function readResource(
  requester: Requester,
  uri: string,
  options?: CallOptions,
): Promise<ReadResourceResult> {
  const answer = await requester.call("resources/read", { uri }, options);
  return readResult(checkReadResourceResult(answer), `the contents of ${uri}`, requester);
}
