/// <reference lib="esnext.disposable" preserve="true" />
export { Client } from "./client/client.js";
export { connect } from "./client/connect.js";
export { McpError } from "./protocol/error.js";
export { audio, image, link, resource, result, text } from "./server/content.js";
export { isInputRequired } from "./server/input-required.js";
export { assistant, prompt, user } from "./server/prompt.js";
export { promptTemplate } from "./server/prompt-template.js";
export { resourceTemplate, staticResource } from "./server/resource.js";
export { Server } from "./server/server.js";
export { ToolError, tool } from "./server/tool.js";
