import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findMentionedHandles } from './mentions.ts';

describe('mentionedHandles', () => {
  it.each([
    ['@ana', ['ana']],
    ['Hi @ana, @ben-2 and @Chloe.', ['ana', 'ben-2', 'chloe']],
    ['@ana and again @ANA', ['ana']],
    ['(@ana) *@ben* "@chloe"! @dan: @eve—', ['ana', 'ben', 'chloe', 'dan', 'eve']],
    ['- @ana\n\n    @ben\n\n1. @chloe', ['ana', 'ben', 'chloe']],
    ['请@ben看一下', ['ben']],
    ['交给 @ben处理', ['ben']],
    ['ถาม@benนะ', ['ben']],
    ['@ana님 @ben에게 안녕@chloe', ['ana', 'ben', 'chloe']],
    ['サーバー@anaお願い、レビュアー@ben', ['ana', 'ben']],
    ['བོད་@anaལ', ['ana']],
    ['a paragraph\n    goes on @ana', ['ana']],
    ['> @ben said\n\n@ana', ['ana']],
    ['text\n\n    @ben\n\n    @chloe\n\n@ana', ['ana']],
    ['<!-- @ben --> @ana', ['ana']],
    ['https://x.example/?u=@ben @ana', ['ana']],
    ['x.example/?u=@ben, shop.example?u=@ben and assignee=@ana', ['ana']],
    ['* > @ben\n* @ana\n  > @ben', ['ana']],
    ['1. - > @ben\n\n@ana', ['ana']],
    ['<!-- a\n\n@ben\n--> @ana', ['ana']],
    ['- <!--\n\n  @ben -->\n\n@ana', ['ana']],
    ['<!--\n\n@ben', []],
    ['`<!--` is text\n\n@ana', ['ana']],
    ['ask @ana-- or @ben-', ['ana', 'ben']],
    ['Привет,@ana', ['ana']],
    ["@ana's and @ben/@chloe", ['ana', 'ben']],
  ])('finds people in prose: %j', (text, handles) => {
    expect(findMentionedHandles(text)).toEqual(handles);
  });

  it.each([
    'mail ana@example.com or first.last+tag@ana',
    'mailto:ana_@ben',
    '@ana@example.social',
    '@example.com',
    'npm install @muster/registry',
    'https://example.com/@ana',
    'a literal \\@ana',
    '@_ana @-ana @@ana',
    '@chloé @ana_b @anaß',
    `@${'a'.repeat(40)}`,
    '@ ana',
    '',
  ])('takes no address, package or other word for a person: %j', (text) => {
    expect(findMentionedHandles(text)).toEqual([]);
  });

  it.each([
    ['`@ana`', []],
    ['`` ` @ana ` `` @ben', ['ben']],
    ['`@ana\n@ben` @chloe', ['chloe']],
    ['a lone ` before @ana', ['ana']],
    ['`` @ana `', ['ana']],
    ['a ` ends with its paragraph @ana\n\n@ben `', ['ana', 'ben']],
    ['\\`@ana\\`', ['ana']],
    ['`\\` @ana `@ben`', ['ana']],
    ['`a` @ana `b`', ['ana']],
    ['\\\\`@ana`', []],
  ])('leaves code spans alone: %j', (text, handles) => {
    expect(findMentionedHandles(text)).toEqual(handles);
  });

  it.each([
    ['```\n@ana\n```\n@ben', ['ben']],
    ['~~~ts\n@ana\n```\n@ben\n~~~\n@chloe', ['chloe']],
    ['````\n```\n@ana\n```\n````\n@ben', ['ben']],
    ['@ben\n```java\n@Override\nvoid run()', ['ben']],
    ['```\r\n@ana\r\n```\r\n@ben', ['ben']],
    ['- step\n  ```\n  @ana\n  ```\n- @ben', ['ben']],
    ['- ```\n  @ana\n  ```\n\n@ben', ['ben']],
    ['> ```\n> @ana\n> ```\n> @ben\n\n@chloe', ['chloe']],
    ['> ```\n> @ana\n\n@ben', ['ben']],
    ['```inline ticks``` @ana', ['ana']],
    ['``\n@ana\n``x @ben', ['ben']],
  ])('leaves fenced code alone: %j', (text, handles) => {
    expect(findMentionedHandles(text)).toEqual(handles);
  });

  const handle = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,10}[a-z0-9])?$/);
  const said = fc.record({ kind: fc.constant('mention' as const), handle });
  const quoted = fc.record({
    kind: fc.constantFrom('span' as const, 'fence' as const, 'tildes' as const, 'address' as const),
    handle,
  });
  type Part = { kind: 'mention' | 'span' | 'fence' | 'tildes' | 'address'; handle: string };
  const write = (part: Part): string => {
    switch (part.kind) {
      case 'mention':
        return `Ask @${part.handle}, please.`;
      case 'span':
        return `Call \`@${part.handle}()\` here.`;
      case 'fence':
        return `\n\`\`\`ts\n@${part.handle}\n\`\`\`\n`;
      case 'tildes':
        return `\n~~~\n@${part.handle} \`\n~~~\n`;
      case 'address':
        return `Write to x@${part.handle}, please.`;
    }
  };

  it('finds exactly those who are spoken to, however prose, code and addresses alternate', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(said, quoted), { maxLength: 12 }),
        fc.constantFrom(' ', '\n', '\n\n'),
        (parts, gap) => {
          const expected = parts.filter((part) => part.kind === 'mention').map((part) => part.handle);
          expect(findMentionedHandles(parts.map(write).join(gap))).toEqual([...new Set(expected)]);
        },
      ),
    );
  });

  it('answers handles and nothing else, whatever the text', () => {
    const noise = fc.string({
      unit: fc.constantFrom('@', '`', '~', '\n', ' ', '>', '-', '\\', '.', 'a', 'B', '1', 'é', '💡'),
      maxLength: 200,
    });
    fc.assert(
      fc.property(noise, (text) => {
        const handles = findMentionedHandles(text);
        expect(new Set(handles).size).toBe(handles.length);
        for (const one of handles) {
          expect(one).toMatch(/^[a-z0-9][a-z0-9-]{0,38}$/);
          expect(text.toLowerCase()).toContain(`@${one}`);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('comes to an end, whatever is in a comment', () => {
    const ticks = Array.from({ length: 190 }, (_, length) => '`'.repeat(length + 1)).join(' ');
    for (const text of [
      '@a '.repeat(6_666),
      '@'.repeat(20_000),
      '`'.repeat(20_000),
      '` '.repeat(10_000),
      ticks,
      '@' + 'a'.repeat(19_999),
      `@${'-'.repeat(19_997)}a `,
      '> '.repeat(10_000),
      '- '.repeat(10_000),
      '~~~\n'.repeat(5_000),
      '\\`'.repeat(10_000),
      '\\``'.repeat(6_666),
      '\\'.repeat(20_000),
      '` `` '.repeat(4_000),
      `- ${' '.repeat(19_998)}`,
      `${'1. '.repeat(6_000)}x`,
    ]) {
      // The text is repeated 50 times. With quadratic cost, the test would not finish.
      expect(findMentionedHandles(text.repeat(50)).length).toBeLessThanOrEqual(1);
    }
  });
});
