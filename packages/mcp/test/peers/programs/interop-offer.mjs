// What every server of the interop matrix offers, in words that no SDK owns.

export const INFO = { name: "interop", version: "1.0.0" };
export const NOTE = "note://a";
export const QUESTION = "Who are you?";
export const FORM = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
export const SAMPLE = {
  messages: [{ role: "user", content: { type: "text", text: "Say hello" } }],
  maxTokens: 10,
};

const cancelled = new Set();

export const text = (value) => ({ content: [{ type: "text", text: String(value) }] });

/** Reports one step after the other, with pauses that let the client cut the stream between two of them. */
export async function count(to, report) {
  for (let step = 1; step <= to; step++) {
    await report(step, to);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return text("done");
}

/** Ends when it is cancelled, and remembers that it was; gives up after a while so that nothing stays behind. */
export async function wait(key, signal, report) {
  await report(1, 1);
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, 10_000);
    const end = () => {
      clearTimeout(timer);
      cancelled.add(key);
      resolve();
    };
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end);
  });
  return text("not cancelled");
}

export const wasCancelled = (key) => text(cancelled.has(key));
