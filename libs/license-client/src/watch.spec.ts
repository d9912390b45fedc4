import { describe, expect, it } from '@jest/globals';
import { createRefusal } from './standing.ts';
import { nextCheckSeconds, repeatChecks } from './watch.ts';

const allowedStanding = (offlineSeconds: number | null) => ({
  ...({ mayRun: true, by: 'service', plan: 'pro', expiresAt: null, offlineUntil: null } as const),
  ...{ isTrial: false, offlineSeconds, features: {}, has: () => false, limit: () => null },
});

describe('a program that watches', () => {
  it.each([
    [900, 450],
    [450, 225],
    [1, 1],
    [-5, 1],
    [7 * 86_400, 86_400],
    [null, 60],
  ])('checks again after half of the time that is left: of %s seconds after %s', (left, seconds) => {
    expect(nextCheckSeconds(allowedStanding(left))).toBe(seconds);
  });

  it('asks again in a minute after a refusal, or when the service said to come back', () => {
    expect(nextCheckSeconds(createRefusal('slots_taken'))).toBe(60);
    expect(nextCheckSeconds(createRefusal('unreachable', { retryAfterSeconds: 90 }))).toBe(90);
  });

  it('hears what check throws, and nothing after it was stopped', async () => {
    const heard: unknown[] = [];
    const wrong = new Error('no place on the disk');
    const failed = await new Promise((resolve) => {
      const stop = repeatChecks(
        () => Promise.reject(wrong),
        () => undefined,
        (error) => {
          stop();
          resolve(error);
        },
      );
    });
    expect(failed).toBe(wrong);
    let answer = (_: ReturnType<typeof allowedStanding>): void => undefined;
    const asked = new Promise<ReturnType<typeof allowedStanding>>((resolve) => (answer = resolve));
    const stop = repeatChecks(
      () => asked,
      (standing) => heard.push(standing),
      (error) => heard.push(error),
    );
    stop();
    answer(allowedStanding(900));
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual([]);
  });
});
