import type { IncomingMessage } from "node:http";
import type { AuthenticationRequest } from "../../http/authentication.js";

/** A request of Node in the one shape that `authenticate` has everywhere. */
export function authenticationRequest(request: IncomingMessage): AuthenticationRequest {
  const { method, url, socket } = request;
  const header = (name: string) => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  };
  const headers = () => Object.fromEntries(Object.keys(request.headers).map((name) => [name, header(name) ?? ""]));
  const headerCount = (name: string) => request.headersDistinct[name]?.length ?? 0;
  return { method, path: url, header, headerCount, headers, remoteAddress: socket.remoteAddress };
}
