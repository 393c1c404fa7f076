import type { Endpoint } from "./transport.js";

/** What can be served: a server, or an endpoint itself. */
export type Servable = Endpoint | { endpoint(): Endpoint };

/** The endpoint of a server, whichever of the two was given. */
export function endpointOf(servable: Servable): Endpoint {
  return "endpoint" in servable ? servable.endpoint() : servable;
}
