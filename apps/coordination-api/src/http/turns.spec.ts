import { describe, expect, it } from '@jest/globals';
import { TurnQueues } from './turns.ts';

const staying = new AbortController().signal;

describe('turns', () => {
  it('are had by as many as may at once, for each key', () => {
    const turns = new TurnQueues(2);
    expect([turns.tryTake('a'), turns.tryTake('a'), turns.tryTake('a'), turns.tryTake('b')]).toEqual([
      ...[true, true, false, true],
    ]);
    turns.release('a');
    expect([turns.tryTake('a'), turns.tryTake('a')]).toEqual([true, false]);
  });

  it('go to those who wait, in the order in which they came, before who comes now', async () => {
    const turns = new TurnQueues(1);
    turns.tryTake('a');
    const had: string[] = [];
    const [first, second] = ['first', 'second'].map((name) =>
      turns.wait('a', staying).then((has) => had.push(`${name} ${has}`)),
    );
    turns.release('a');
    await first;
    expect([had, turns.tryTake('a')]).toEqual([['first true'], false]);
    turns.release('a');
    await second;
    turns.release('a');
    expect([had, turns.tryTake('a')]).toEqual([['first true', 'second true'], true]);
  });

  it('are not given to who left', async () => {
    const turns = new TurnQueues(1);
    turns.tryTake('a');
    const left = new AbortController();
    const [gone, stays] = [turns.wait('a', left.signal), turns.wait('a', staying)];
    left.abort();
    expect(await gone).toBe(false);
    turns.release('a');
    expect(await stays).toBe(true);
    turns.release('a');
    expect(await turns.wait('a', AbortSignal.abort())).toBe(false);
    expect(turns.tryTake('a')).toBe(true);
  });
});
