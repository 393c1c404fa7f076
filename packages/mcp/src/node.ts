export { type HttpHandle, type ServeHttpOptions, serveHttp } from "./node/http.js";
export { type ServeStdioOptions, serveStdio } from "./node/stdio-server.js";
