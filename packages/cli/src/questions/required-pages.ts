import { McpError } from "@parley/mcp";
import type { ElicitRequestURLParams } from "@parley/mcp/protocol";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { QuestionQueue } from "./prompter.js";
import { listOf, memberOf } from "./typed-value.js";

/** Maximum number of pages shown for one error. Further pages are ignored. */
const MAX_PAGES = 10;

/**
 * Runs a request. If the server first requires the user to visit pages, prints the pages, lets the user visit them, and
 * repeats the request once. Without a terminal, only prints the pages and rethrows the error.
 */
export async function withRequiredPages<T>(terminal: Terminal, server: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (reason) {
    if (!McpError.is(reason) || reason.kind !== "url_elicitation_required") throw reason;
    if (!(await visitPages(terminal, pagesOf(reason), server))) throw reason;
    return run();
  }
}

async function visitPages(
  terminal: Terminal,
  pages: readonly ElicitRequestURLParams[],
  server: string,
): Promise<boolean> {
  const [{ noteQuestion }, { askPage, notePage }] = await Promise.all([
    import("./ask-form.js"),
    import("./ask-page.js"),
  ]);
  if (!terminal.interactive) {
    for (const { message, url } of pages) {
      noteQuestion(terminal, server, "requires you to open a page first:", message);
      notePage(terminal, url);
    }
    return false;
  }
  return new QuestionQueue(terminal).ask(terminal.io.signal, async (prompter) => {
    for (const page of pages) {
      const { action } = await askPage(terminal, prompter, page, server);
      if (action !== "accept") return false;
    }
    const again = await prompter.choose(show`Call again?`, [
      { value: true, label: show`Yes, I am done` },
      { value: false, label: show`No` },
    ]);
    return again === true;
  });
}

/** The pages that the error lists. The client has already removed deceptive URLs. */
function pagesOf({ data }: McpError): readonly ElicitRequestURLParams[] {
  return listOf(memberOf(data, "elicitations"))
    .slice(0, MAX_PAGES)
    .flatMap((one) => {
      const [message, url] = [memberOf(one, "message"), memberOf(one, "url")];
      if (typeof url !== "string" || !URL.canParse(url)) return [];
      return [{ mode: "url" as const, message: typeof message === "string" ? message : "", url }];
    });
}
