/** Returns an object that a hook fills with `Object.assign`. A read before the hook throws. */
export function started(): object {
  const check = (target: object): void => {
    if (Reflect.ownKeys(target).length === 0)
      throw new Error('the app has not started: read its fields in a test or hook');
  };
  return new Proxy(
    {},
    {
      get(target, key, receiver) {
        check(target);
        return Reflect.get(target, key, receiver) as unknown;
      },
      ownKeys(target) {
        check(target);
        return Reflect.ownKeys(target);
      },
    },
  );
}
