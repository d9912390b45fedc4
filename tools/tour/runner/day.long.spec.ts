/** Three runners and a person on one board, on an instance of its own: npm run tour -- --delivery --runner. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { bringUpInstance, type OwnInstance } from '../own-instance.ts';
import { spendRunnerDay } from './day.ts';

let own: OwnInstance;

beforeAll(async () => {
  own = await bringUpInstance('for the spec', false);
}, 120_000);
afterAll(() => own.instance.stop());

it('goes by itself: each has a story of its own, whoever is told, killed or stopped', async () => {
  const checks = await spendRunnerDay(own.instance, 'runner-day');
  expect(checks.filter(({ holds }) => !holds)).toEqual([]);
  expect(checks).toHaveLength(8);
}, 240_000);
