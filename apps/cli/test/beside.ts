import { afterAll, beforeAll, it } from '@jest/globals';

type Scenario = () => Promise<void>;

/**
 * Runs tests that mostly wait. They begin with the first following test, `width` at a time, and end before or
 * soon after their own turn.
 * The limit leaves the machine to the usual tests, some of which have deadlines.
 */
export function useBeside(
  width: number,
  test: typeof it | typeof it.skip = it,
): (title: string, scenario: Scenario) => void {
  const toDo: Scenario[] = [];
  let all: Promise<unknown> = Promise.resolve();
  const goOn = async (): Promise<void> => {
    for (let next = toDo.shift(); next !== undefined; next = toDo.shift()) await next();
  };
  beforeAll(() => {
    all = Promise.all(Array.from({ length: width }, goOn));
  });
  afterAll(() => all);
  return (title, scenario) => {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    // The test itself reports the failure when its turn comes.
    promise.catch(() => undefined);
    if (test === it.skip) {
      test(title, scenario);
      return;
    }
    toDo.push(() =>
      scenario().then(() => {
        resolve(undefined);
      }, reject),
    );
    test(title, () => promise);
  };
}
