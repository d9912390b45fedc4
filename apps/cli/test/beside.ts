import { afterAll, beforeAll, it } from '@jest/globals';

type Scenario = () => Promise<void>;

/**
 * Tests that mostly wait: they begin with the first test that follows, `width` of them at a time, and are over when their
 * own turn comes, or soon after. So few at once, and the usual tests one after another beside them, leave the machine to
 * those that have to be done in time.
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
    // Its own test says so, when its turn comes.
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
