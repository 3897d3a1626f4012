const AT_ONCE = 10;

export async function many<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  let started = 0;
  const worker = async () => {
    while (started++ < count) made.push(await make());
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return made;
}
