import { describe, expect, it } from '@jest/globals';
import { findGuard, guardsInSource, never, swapped, takenOut, takeOut, without } from './guards.ts';
import { properties } from './properties.ts';

describe('the guards that the source marks', () => {
  it('each stand there once, and some control takes each of them out', () => {
    expect(properties.length).toBeGreaterThan(0);
    for (const name of guardsInSource().keys()) expect(findGuard(name)).toBeDefined();
    expect([...guardsInSource().keys()].sort()).toEqual([...takenOut].sort());
  });

  it('are refused where none has this name', () => {
    expect(() => without('what nobody marked')).toThrow('no guard is marked: what nobody marked');
  });
});

describe('a guard is taken out', () => {
  const code = 'a();\n  // guard: one\n  b();\n  c();\n';
  const sql = 'where /*guard: one*/a and /*guard: two*/b/*end*//*end*/ and c';

  it('of code by its line, of SQL by its marks, also one within another', () => {
    expect(takeOut(code, { guard: 'one', put: 'd();' }, 'code')).toBe(
      'a();\n  // guard: one\nd();\n  c();\n',
    );
    expect(takeOut(sql, { guard: 'two', put: never }, 'sql')).toContain('/*guard: two*/b and false/*end*/');
    expect(takeOut(sql, { guard: 'one', put: '' }, 'sql')).toBe('where /*guard: one*//*end*/ and c');
  });

  it('nowhere else, and never in silence', () => {
    expect(takeOut(sql, { guard: 'three', put: '' }, 'sql')).toBeUndefined();
    expect(() => takeOut(code + code, { guard: 'one', put: '' }, 'code')).toThrow('twice in one text: one');
    expect(() => takeOut(sql, { guard: 'two', put: 'b' }, 'sql')).toThrow('nothing was taken out: two');
    expect(() => swapped('z', 'e')('a and b')).toThrow('not once in what is guarded: z');
  });
});
