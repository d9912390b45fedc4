import { expect, it } from '@jest/globals';
import { mergeTexts } from './merge-texts.ts';

const base = '# Pay\n\n- by card\n- by invoice\n\nThe end.\n';

it('keeps both changes of different lines, and every other byte', () => {
  const text = base.replaceAll('\n', '\r\n');
  const mine = text.replace('card', 'card *now*  ');
  const theirs = `${text.replace('end', 'very end')}\r\nMore`;
  expect(mergeTexts(text, mine, theirs)).toBe(
    `${text.replace('card', 'card *now*  ').replace('end', 'very end')}\r\nMore`,
  );
});

it('merges lines that one side deletes and the other side leaves alone', () => {
  expect(mergeTexts(base, base.replace('# Pay\n', ''), base.replace('end', 'limit'))).toBe(
    '\n- by card\n- by invoice\n\nThe limit.\n',
  );
});

it('takes the same change of both sides once', () => {
  const both = base.replace('card', 'cash');
  expect(mergeTexts(base, both, both)).toBe(both);
});

it('merges nothing if both sides change the same line, or one deletes what the other changes', () => {
  expect(mergeTexts(base, base.replace('card', 'cash'), base.replace('card', 'coin'))).toBeUndefined();
  expect(mergeTexts(base, base.replace('- by card\n', ''), base.replace('card', 'coin'))).toBeUndefined();
  expect(mergeTexts('', 'Mine', 'Theirs')).toBeUndefined();
});
