/** Sets what the tests look for if it ever runs as a script. */
const SCRIPT = "globalThis.hacked = true";

/** What a hostile server writes wherever it can write anything. `outside` is an address that nobody must ask. */
export function payloadsFor(outside: string): readonly string[] {
  return [
    `<script>${SCRIPT}</script>`,
    `<img src="${outside}/img" onerror="${SCRIPT}">`,
    `"><svg onload="${SCRIPT}">`,
    `' autofocus onfocus='${SCRIPT}' x='`,
    `</script><script>${SCRIPT}</script>`,
    `<iframe srcdoc="<script>parent.hacked = true</script>"></iframe>`,
    `<link rel="stylesheet" href="${outside}/css">`,
    `<style>@import url(${outside}/import); body { display: none }</style>`,
    `<a href="javascript:${SCRIPT}" id="inspector">a link</a>`,
    `<form action="${outside}/form"><button>Send</button></form>`,
    `<meta http-equiv="refresh" content="0;url=${outside}/refresh">`,
    `<base href="${outside}/">`,
    `[a link](javascript:${SCRIPT})`,
    `[a link](${outside}/link "title")`,
    `![an image](${outside}/markdown.png)`,
    `<${outside}/autolink>`,
    `[reference][r]\n\n[r]: javascript:${SCRIPT}`,
    `![svg](data:image/svg+xml;base64,${base64(svgOf(outside))})`,
    `{{constructor.constructor("${SCRIPT}")()}} \${${SCRIPT}}`,
    "\u202Etxt.exe\u202C \u001B[31mred\u001B[0m \u0000 \u2066hidden\u2069 \u200B\u{E0068}\u{E0069}",
    `${"endless".repeat(300)}${"Z\u0351\u036B\u0343".repeat(20)}`,
  ];
}

/** A picture that runs a script and loads from outside, where a page lets it. */
export function svgOf(outside: string): string {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8" onload="${SCRIPT}"><script>${SCRIPT}</script>` +
    `<image href="${outside}/svg.png" width="8" height="8"/><foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="${outside}/fo"/></foreignObject></svg>`
  );
}

export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
