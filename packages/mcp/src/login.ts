export { type BrowserLoginOptions, browserLogin } from "./node/auth/browser-login.js";
export { fileTokenStore } from "./node/auth/file-token-store.js";
export { openInBrowser, type StartProgram } from "./node/auth/open-in-browser.js";
export { type TerminalLoginOptions, terminalLogin } from "./node/auth/terminal-login.js";
