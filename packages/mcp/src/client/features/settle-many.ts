/** Requests of one batch that run at the same time, unless told otherwise: a server is rarely faster with more. */
export const DEFAULT_CONCURRENCY = 8;

/** Runs `work` for each item, `limit` at a time at most, and gives what each came to, in the order of the items. */
export async function settleMany<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const outcomes: PromiseSettledResult<R>[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      // The loop's condition says that the item is there.
      const item = items[index] as T;
      outcomes[index] = await work(item).then(
        (value) => ({ status: "fulfilled", value }),
        (reason: unknown) => ({ status: "rejected", reason }),
      );
    }
  };
  const workers = Math.max(1, Math.min(Math.floor(limit), items.length));
  await Promise.all(Array.from({ length: workers }, worker));
  return outcomes;
}
