import { McpError } from "../protocol/error.js";
import type { Endpoint } from "./transport.js";

/** What can be served: a server, or an endpoint itself. */
export type Servable = Endpoint | { endpoint(): Endpoint };

/** The endpoint of a server, whichever of the two was given. Throws for anything else. */
export function endpointOf(servable: Servable): Endpoint {
  // Programs without types may pass anything.
  const given: Partial<Endpoint & { endpoint(): Endpoint }> | undefined | null = servable;
  if (typeof given?.endpoint === "function") return given.endpoint();
  if (typeof given?.request === "function") return given as Endpoint;
  throw new McpError(
    "invalid_definition",
    `${given === undefined ? "nothing" : `a value of type ${typeof given}`} was passed to be served`,
    {
      fix: "Pass a `Server` first, then the options.",
    },
  );
}
