import { describe, expect, it } from '@jest/globals';
import { terminalSafeJson, sanitizeToOneLine, sanitizeForTerminal } from './plain.ts';

describe('a text of somebody else', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]0;title\u0007after', 'after'],
    ['a\rb\u0008c', 'a b c'],
    ['evil\u202egnp.exe', 'evil gnp.exe'],
    ['Zoë 👩‍👧', 'Zoë 👩‍👧'],
  ])('%j is shown as %j', (text, shown) => {
    expect(sanitizeForTerminal(text)).toBe(shown);
  });

  it('keeps its lines where there is room, and has one where there is none', () => {
    expect(sanitizeForTerminal('a\nb')).toBe('a\nb');
    expect(sanitizeToOneLine('a\n\t b ')).toBe('a b');
  });
});

it('a text of somebody else in JSON is the same value, and does nothing to a terminal', () => {
  const value = { title: 'a\u009b31m\u007f\u202egnp\u2066\u200f\u001b[31m Zoë 👩‍👧', list: ['\u0085'] };
  const text = terminalSafeJson(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(text).not.toMatch(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u);
  expect(text).toContain('Zoë 👩‍👧');
});
