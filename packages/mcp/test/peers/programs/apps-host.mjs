// A host page with the published AppBridge of @modelcontextprotocol/ext-apps; a test of the browser bundles it.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

/** Shows a page in a sandbox, and notes what it does. */
globalThis.showPublished = async ({ html, sandbox }) => {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
  document.body.append(frame);
  const noted = [];
  const bridge = new AppBridge(
    null,
    { name: "published", version: "2" },
    { openLinks: {}, serverTools: {}, serverResources: {}, logging: {}, updateModelContext: {}, message: {} },
    { hostContext: { theme: "dark", displayMode: "inline", availableDisplayModes: ["inline", "fullscreen"] } },
  );
  bridge.onsandboxready = () => bridge.sendSandboxResourceReady({ html, csp: {} });
  bridge.oncalltool = async (params) => {
    noted.push(["tools/call", params]);
    return { content: [{ type: "text", text: `called ${params.name}` }] };
  };
  bridge.onreadresource = async ({ uri }) => ({ contents: [{ uri, text: "read" }] });
  bridge.onopenlink = async ({ url }) => (url.includes("denied") ? { isError: true } : {});
  bridge.onmessage = async (params) => {
    noted.push(["ui/message", params]);
    return {};
  };
  bridge.onupdatemodelcontext = async (params) => {
    noted.push(["ui/update-model-context", params]);
    return {};
  };
  bridge.onrequestdisplaymode = async ({ mode }) => ({ mode });
  bridge.onloggingmessage = (params) => noted.push(["log", params]);
  bridge.onsizechange = (params) => noted.push(["size", params]);
  const initialized = new Promise((resolve) => {
    bridge.oninitialized = resolve;
  });
  const transport = new PostMessageTransport(frame.contentWindow, frame.contentWindow);
  await bridge.connect(transport);
  frame.src = sandbox;
  await initialized;
  Object.assign(globalThis, { bridge, noted });
  return bridge.getAppVersion();
};
