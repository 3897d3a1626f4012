const CONCURRENCY = 10;

export async function many<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let started = 0;
  const worker = async () => {
    while (started++ < count) results.push(await make());
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return results;
}
