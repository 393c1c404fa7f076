export { type BrowserLoginOptions, browserLogin, openInBrowser, type StartProgram } from "./node/auth/browser-login.js";
export { fileTokenStore } from "./node/auth/file-token-store.js";
export { type TerminalLoginOptions, terminalLogin } from "./node/auth/terminal-login.js";
