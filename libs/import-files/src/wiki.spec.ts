import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { wikiToMarkdown } from './wiki.ts';

describe('the markup of Jira', () => {
  it.each([
    ['h1. Title', '# Title'],
    ['* one\n** two', '- one\n  - two'],
    ['# one\n## two', '1. one\n   1. two'],
    ['a *bold* word, an _italic_ one, a -struck- one', 'a **bold** word, an *italic* one, a ~~struck~~ one'],
    ['{{code}} and [name|https://x.org/a_b_c]', '`code` and [name](https://x.org/a_b_c)'],
    ['[https://x.org]', '<https://x.org>'],
    ['bq. said', '> said'],
    ['{quote}\none\ntwo\n{quote}', '> one\n> two'],
    ['||a||b||\n|1|2|', '| a | b |\n| --- | --- |\n|1|2|'],
    ['{color:red}red{color}', 'red'],
    ['!https://x.org/a.png|width=3!', '![](https://x.org/a.png)'],
    [
      '{code:title=x|java}\nint *a* = b_c_d; // [x]\n{code}\n*b*',
      '```java\nint *a* = b_c_d; // [x]\n```\n**b**',
    ],
    ['{noformat}\n```\n{noformat}', '````\n```\n````'],
    ['{panel:title=Note|bgColor=#fff}\none\ntwo\n{panel}', '> **Note**\n> \n> one\n> two'],
    ['{panel}one{panel}', '> one'],
    ['ask [~ana.b] or [~accountid:5b1:0a-c]', 'ask `@ana.b` or `@5b1:0a-c`'],
    ['see !My shot.png|thumbnail! here', 'see `My shot.png` here'],
    ['one \\\\ two', 'one<br> two'],
  ])('%j is %j', (wiki, markdown) => {
    expect(wikiToMarkdown(wiki)).toBe(markdown);
  });

  it.each([
    'snake_case_name and 2024-01-02',
    'a*b*c',
    '5 * 3 - 2 - 1',
    '[see below]',
    'C:\\_a_',
    '\\\\server\\share',
    'wow! see a.png and wait!',
    '{unknown}x',
  ])('leaves %j as it is', (text) => {
    expect(wikiToMarkdown(text)).toBe(text);
  });

  it('loses no word, whatever is written', () => {
    const piece = fc.constantFrom(
      '*',
      '_',
      '-',
      '{code}',
      '{quote}',
      '{{',
      '}}',
      '||',
      '\n',
      ' ',
      'h1. ',
      '[',
      ']',
      '|',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(piece, fc.nat(99)), { maxLength: 20 }), (parts) => {
        const made = wikiToMarkdown(parts.map(([mark, number]) => `${mark}w${number}w`).join(''));
        for (const [, number] of parts) expect(made).toContain(`w${number}w`);
      }),
    );
  });

  it('is read at once, however much of it there is', () => {
    const text = '_a *b -c '.repeat(20_000);
    expect(wikiToMarkdown(text)).toBe(text);
  });
});
