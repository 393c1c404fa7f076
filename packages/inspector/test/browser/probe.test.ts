import { test } from "vitest";
import { server as everything } from "../../../../examples/everything/server.js";
import { ERAS, serverTarget } from "../engine/opened-engine.js";
import { openInspectedPage } from "../kit/inspected-page.js";
import { questionOf, resultOf, runTool } from "./call-steps.js";

test("probe", async () => {
  const opened = await openInspectedPage({ targets: [serverTarget(everything)], revision: ERAS[0] });
  const { page } = opened;
  const shot = (n: string) => page.screenshot({ path: `/tmp/w3/${n}.png` });
  try {
    page.setDefaultTimeout(5000);
    await runTool(page, "secret");
    await resultOf(page).waitFor();
    await shot("secret");
    await runTool(page, "ask", { question: "Why?" });
    await questionOf(page).waitFor();
    await shot("ask");
    console.log(await questionOf(page).ariaSnapshot());
  } catch (e) { await shot("failed"); console.log(e); }
  console.log(opened.problems, opened.requests.length);
  await opened.close();
}, 60000);
