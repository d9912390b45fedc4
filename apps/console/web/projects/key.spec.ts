import { describe, expect, it } from '@jest/globals';
import { toProjectKey, suggestProjectKey } from './key.ts';

const none = new Set<string>();

describe('the key of a new project', () => {
  it('is the first letters of several words, and the beginning of one', () => {
    expect(suggestProjectKey('Web shop', none)).toBe('WS');
    expect(suggestProjectKey('Storefront', none)).toBe('STO');
    expect(suggestProjectKey('Go', none)).toBe('GO');
    expect(suggestProjectKey('Ana’s mobile app, 2nd try', none)).toBe('AMA2T');
  });

  it('writes letters with marks as those without', () => {
    expect(suggestProjectKey('Éditions Ürün Ñandú', none)).toBe('EUN');
    expect(suggestProjectKey('Straße', none)).toBe('STR');
    expect(suggestProjectKey('Øl', none)).toBe('OL');
    expect(suggestProjectKey('Łódź', none)).toBe('LOD');
    expect(suggestProjectKey('Þór', none)).toBe('THO');
    expect(toProjectKey('größe 1')).toBe('GROSSE1');
  });

  it('is another where it is taken', () => {
    expect(suggestProjectKey('Web shop', new Set(['WS']))).toBe('WEB');
    expect(suggestProjectKey('Web shop', new Set(['WS', 'WEB']))).toBe('WEBS');
    expect(suggestProjectKey('Go', new Set(['GO']))).toBe('GO2');
    expect(suggestProjectKey('Go', new Set(['GO', 'GO2']))).toBe('GO3');
  });

  it('begins with a letter, and is 2 to 10 long', () => {
    expect(suggestProjectKey('2027 plan', none)).toBe('PLA');
    expect(suggestProjectKey('X', none)).toBe('X2');
    const many = Array.from({ length: 14 }, () => 'word').join(' ');
    expect(suggestProjectKey(many, none)).toBe('WWWWWWWWWW');
    for (const name of ['A', 'Web', 'Ä1 b2', 'One two three', 'ffi ligature', 'x-1'])
      expect(suggestProjectKey(name, none)).toMatch(/^[A-Z][A-Z0-9]{1,9}$/);
  });

  it('is left to people where the name has no letter that a key is made of', () => {
    for (const name of ['日本語', 'Привет', '42', '', '!?']) expect(suggestProjectKey(name, none)).toBe('');
  });
});
