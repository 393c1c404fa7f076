// A page of MCP Apps with the published App of @modelcontextprotocol/ext-apps; a test of the browser bundles it.
import { App } from "@modelcontextprotocol/ext-apps";

const app = new App({ name: "published", version: "2" }, { availableDisplayModes: ["inline", "fullscreen"] });
const heard = [];
const hear = (name) => (params) => heard.push([name, params]);
app.ontoolinput = hear("input");
app.ontoolinputpartial = hear("partial");
app.ontoolresult = hear("result");
app.ontoolcancelled = hear("cancelled");
app.onhostcontextchanged = hear("context");
app.onteardown = async () => {
  document.title = "torn down";
  await app.sendLog({ level: "info", data: "torn down" });
  return {};
};
await app.connect();
Object.assign(globalThis, { app, heard });
