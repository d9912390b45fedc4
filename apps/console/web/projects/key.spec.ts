import { describe, expect, it } from '@jest/globals';
import { keyOf, suggestKey } from './key.ts';

const none = new Set<string>();

describe('the key of a new project', () => {
  it('is the first letters of several words, and the beginning of one', () => {
    expect(suggestKey('Web shop', none)).toBe('WS');
    expect(suggestKey('Storefront', none)).toBe('STO');
    expect(suggestKey('Go', none)).toBe('GO');
    expect(suggestKey('Ana’s mobile app, 2nd try', none)).toBe('AMA2T');
  });

  it('writes letters with marks as those without', () => {
    expect(suggestKey('Éditions Ürün Ñandú', none)).toBe('EUN');
    expect(suggestKey('Straße', none)).toBe('STR');
    expect(suggestKey('Øl', none)).toBe('OL');
    expect(suggestKey('Łódź', none)).toBe('LOD');
    expect(suggestKey('Þór', none)).toBe('THO');
    expect(keyOf('größe 1')).toBe('GROSSE1');
  });

  it('is another where it is taken', () => {
    expect(suggestKey('Web shop', new Set(['WS']))).toBe('WEB');
    expect(suggestKey('Web shop', new Set(['WS', 'WEB']))).toBe('WEBS');
    expect(suggestKey('Go', new Set(['GO']))).toBe('GO2');
    expect(suggestKey('Go', new Set(['GO', 'GO2']))).toBe('GO3');
  });

  it('begins with a letter, and is 2 to 10 long', () => {
    expect(suggestKey('2027 plan', none)).toBe('PLA');
    expect(suggestKey('X', none)).toBe('X2');
    const many = Array.from({ length: 14 }, () => 'word').join(' ');
    expect(suggestKey(many, none)).toBe('WWWWWWWWWW');
    for (const name of ['A', 'Web', 'Ä1 b2', 'One two three', 'ffi ligature', 'x-1'])
      expect(suggestKey(name, none)).toMatch(/^[A-Z][A-Z0-9]{1,9}$/);
  });

  it('is left to people where the name has no letter that a key is made of', () => {
    for (const name of ['日本語', 'Привет', '42', '', '!?']) expect(suggestKey(name, none)).toBe('');
  });
});
