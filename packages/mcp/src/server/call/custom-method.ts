import { isObject, type Params } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { CORE_TABLE } from "../../protocol/methods.js";
import type { HandlerContext } from "../contract/context.js";
import type { Layers } from "./layers.js";
import type { MethodHandler } from "./server-call.js";
import type { ServerConfig } from "./server-config.js";

/** Serves a method that is not part of the protocol. Returns the result, or throws an `McpError`. */
export type CustomHandler<D = Record<string, unknown>> = (
  params: Params,
  ctx: HandlerContext<D>,
) => object | Promise<object>;

/** Registers the handler of an extension method or of a method specific to this server. */
export function addMethod(config: ServerConfig, layers: Layers, method: string, handler: CustomHandler): void {
  const row = config.methods.get(method);
  const fault =
    typeof handler !== "function"
      ? "has no handler function"
      : CORE_TABLE.get(method) !== undefined
        ? "is a method of the protocol"
        : row !== undefined && (row.kind !== "request" || row.sender === "server")
          ? "is not a request that clients send"
          : layers.serves(method)
            ? "already has a handler"
            : undefined;
  if (fault !== undefined) {
    throw new McpError("invalid_definition", `"${method}" ${fault}`, {
      fix: 'Pass an unused name and a function, such as `server.handle("com.example/count", (params) => ({ n: 1 }))`.',
    });
  }
  config.methods.addRequest(method);
  const serve: MethodHandler = async (call) => {
    const result: unknown = await handler(call.request.params, call.ctx);
    if (isObject(result)) return result;
    throw new McpError("misuse", `the handler of ${method} did not return an object`, {
      fix: "Return an object, for example `{}`.",
    });
  };
  layers.add({ name: method, stage: "served", handlers: { [method]: serve } });
}
