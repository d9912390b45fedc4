import { describe, expect, it } from '@jest/globals';
import { buildSnippet } from './snippet.ts';

const snippet = (title: string, excerpt: string, typed: string, slips: string[] = []) =>
  buildSnippet(title, excerpt, { searchText: typed, corrections: slips });

describe('a snippet', () => {
  it('marks each whole word that was looked for, and what begins with the last', () => {
    expect(snippet('', 'Log in, then sign in or log out', 'log si')).toBe(
      '⟦Log⟧ in, then ⟦sign⟧ in or ⟦log⟧ out',
    );
    expect(snippet('', 'A login is no logic', 'log in')).toBe('A login is no logic');
    expect(snippet('', 'Blog, clog', 'log')).toBe('B⟦log⟧, c⟦log⟧');
  });

  it('marks words that differ in case and accents, and what a slip was meant to be', () => {
    expect(snippet('', 'Die ÜBERPRÜFUNG fehlt', 'uberprufung')).toBe('Die ⟦ÜBERPRÜFUNG⟧ fehlt');
    expect(snippet('', 'They receive it', 'recieve', ['receive'])).toBe('They ⟦receive⟧ it');
  });

  it('marks letters inside of words where no word is one, and in scripts without spaces', () => {
    expect(snippet('', 'Reauthenticate first', 'thent')).toBe('Reau⟦thent⟧icate first');
    expect(snippet('', 'ユーザー認証の修正', '認証')).toBe('ユーザー⟦認証⟧の修正');
    expect(snippet('', 'what (.*) means', '(.*)')).toBe('what ⟦(.*)⟧ means');
  });

  it('shows the text from shortly before the first hit on, on one line, 200 characters at most', () => {
    const text = `${'before '.repeat(60)}needle\n\n${'after '.repeat(60)}`;
    const shown = snippet('Title', text, 'needle');
    expect(shown).toMatch(/^…(before )+⟦needle⟧ after .*…$/);
    expect(shown.length).toBeLessThanOrEqual(200);
    const many = snippet('Title', 'needle '.repeat(90), 'needle');
    expect(many.length).toBeLessThanOrEqual(200);
    expect(many.replaceAll('⟦needle⟧', '')).toMatch(/^[ needl]*…$/);
    const long = 'x'.repeat(900);
    expect(snippet('', `${long} needle`, 'needle')).toMatch(/^…x+ ⟦needle⟧$/);
    expect(snippet('', long, long.slice(0, 200)).length).toBeLessThanOrEqual(200);
  });

  it('cuts no character in two', () => {
    for (let length = 190; length < 205; length += 1) {
      const shown = snippet('', 'a'.repeat(length) + '😀'.repeat(40), 'nothing');
      expect(shown.isWellFormed()).toBe(true);
      expect(snippet('', `${'😀'.repeat(length)} needle`, 'needle').isWellFormed()).toBe(true);
    }
  });

  it('shows the title where only that has a hit, and the beginning where nothing has', () => {
    expect(snippet('Sign in', 'With a passkey', 'sign')).toBe('⟦Sign⟧ in');
    expect(snippet('Sign in', 'With a passkey', 'WEB-1')).toBe('With a passkey');
    expect(snippet('Sign in', '', 'WEB-1')).toBe('');
  });

  it('has no marks but its own', () => {
    expect(snippet('', 'a ⟦b⟧ needle', 'needle')).toBe('a [b] ⟦needle⟧');
  });
});
