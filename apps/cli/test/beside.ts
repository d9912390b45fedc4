import { afterAll, beforeAll, it } from '@jest/globals';

type Scenario = () => Promise<void>;

/**
 * Registers tests that mostly wait, and runs up to `width` of them at the same time. They start before the
 * first test of the file, and each test reports its result when its turn comes. The limit leaves processor
 * time to the other tests, some of which have deadlines.
 */
export function useConcurrentScenarios(
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
    // The test itself reports the failure when its turn comes, so this rejection is not unhandled.
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
