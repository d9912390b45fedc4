// Runs the part of the properties that is fast enough for `npm test`. The slow part is in
// `prove.long.spec.ts`; `npm run prove` runs everything.
import { afterAll, describe, expect, it } from '@jest/globals';
import { createPool, type Pool } from '@muster/driver';
import { properties } from './properties.ts';
import { type GuardRemoval } from './guards.ts';
import { openTap, type Tap } from './tap.ts';
import { mostMillis, Trial } from './trial.ts';

const trial = new Trial();
const { services } = trial;
afterAll(() => services.stop());

describe.each(properties.filter(({ leftTo }) => leftTo === undefined))('$name', (property) => {
  it('holds', async () => expect(await trial.violationsOf(property)).toEqual([]), mostMillis);

  for (const control of property.controls.filter(({ leftTo }) => leftTo === undefined))
    it(
      `fails: ${control.name}`,
      async () => expect(await trial.violationsOf(control)).not.toEqual([]),
      mostMillis,
    );
});

describe('the tap', () => {
  const tapped = <Result>(
    removals: readonly GuardRemoval[],
    work: (tap: Tap, pool: Pool) => Promise<Result>,
  ): Promise<Result> =>
    services.during(async (scope) => {
      const tap = await openTap(scope, (await scope.database()).url, removals);
      const pool = createPool({ url: tap.url, role: null, name: 'muster-prove-spec', max: 1 });
      scope.onStop(() => pool.end());
      return work(tap, pool);
    });
  const ask = async (pool: Pool): Promise<unknown> =>
    (await pool.query<{ n: number }>('select $1::int /*guard: one more*/+ 1/*end*/ as n', [1])).rows[0]?.n;

  it('takes out what is marked', async () => {
    expect(await tapped([{ guard: 'one more', put: '+ 2' }], (_tap, pool) => ask(pool))).toBe(3);
  });

  it('says so when it never found it: then nothing was tried', async () => {
    const other = { guard: 'another', put: '+ 2' };
    const answers: unknown[] = [];
    const run = tapped([other], async (_tap, pool) => answers.push(await ask(pool)));
    await expect(run).rejects.toThrow('no statement has:\n  another');
    expect(answers).toEqual([2]);
  });

  it('holds a connection before a statement until it is let go', () =>
    tapped([], async (tap, pool) => {
      const gate = tap.holdBefore('+ 1');
      let isAnswered = false;
      const answer = ask(pool).finally(() => {
        isAnswered = true;
      });
      await gate.reached;
      expect(isAnswered).toBe(false);
      gate.open();
      expect(await answer).toBe(2);
    }));
});
