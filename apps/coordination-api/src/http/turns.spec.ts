import { describe, expect, it } from '@jest/globals';
import { Turns } from './turns.ts';

const staying = new AbortController().signal;

describe('turns', () => {
  it('are had by as many as may at once, for each key', () => {
    const turns = new Turns(2);
    expect([turns.take('a'), turns.take('a'), turns.take('a'), turns.take('b')]).toEqual([
      ...[true, true, false, true],
    ]);
    turns.leave('a');
    expect([turns.take('a'), turns.take('a')]).toEqual([true, false]);
  });

  it('go to those who wait, in the order in which they came, before who comes now', async () => {
    const turns = new Turns(1);
    turns.take('a');
    const had: string[] = [];
    const [first, second] = ['first', 'second'].map((name) =>
      turns.wait('a', staying).then((has) => had.push(`${name} ${has}`)),
    );
    turns.leave('a');
    await first;
    expect([had, turns.take('a')]).toEqual([['first true'], false]);
    turns.leave('a');
    await second;
    turns.leave('a');
    expect([had, turns.take('a')]).toEqual([['first true', 'second true'], true]);
  });

  it('are not given to who left', async () => {
    const turns = new Turns(1);
    turns.take('a');
    const left = new AbortController();
    const [gone, stays] = [turns.wait('a', left.signal), turns.wait('a', staying)];
    left.abort();
    expect(await gone).toBe(false);
    turns.leave('a');
    expect(await stays).toBe(true);
    turns.leave('a');
    expect(await turns.wait('a', AbortSignal.abort())).toBe(false);
    expect(turns.take('a')).toBe(true);
  });
});
