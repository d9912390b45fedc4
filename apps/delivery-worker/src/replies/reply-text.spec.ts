import { describe, expect, it } from '@jest/globals';
import { replyMarker, replyTextOf } from './reply-text.ts';

describe('the text of a reply', () => {
  it.each([
    ['alone', 'Yes, keep it.\n', 'Yes, keep it.'],
    ['of several paragraphs', 'Yes.\r\n\r\nKeep it.\r\n', 'Yes.\n\nKeep it.'],
    [
      'above the quote of Gmail',
      `Yes.\n\nOn Mon, Nov 30, 2026 at 3:00 PM Muster <muster@acme.example>\nwrote:\n\n> ${replyMarker}\n>\n> Ana asks\n`,
      'Yes.',
    ],
    [
      'above the quote of Apple Mail in German',
      `Ja.\n\n> Am 30.11.2026 um 15:00 schrieb Muster:\n> \n> Ana asks`,
      'Ja.',
    ],
    [
      'with an introduction in German',
      'Ja.\n\nAm 30.11.2026 um 15:00 schrieb Muster <m@a.b>:\n\n> Ana asks',
      'Ja.',
    ],
    [
      'above the quote of Outlook',
      `Yes.\n\n________________________________\nFrom: Muster\nSent: Monday\n`,
      'Yes.',
    ],
    ['above an original message', 'Yes.\n\n-----Original Message-----\nFrom: Muster', 'Yes.'],
    ['above the marker without quotes', `Yes.\n\n${replyMarker}\n\nAna asks`, 'Yes.'],
    ['with a signature', 'Yes.\n-- \nBen, Acme', 'Yes.'],
    ['below the quote', '> Ana asks\n\nYes.', 'Yes.'],
    ['between the quotes', '> One?\nYes.\n> Two?\nNo.', 'Yes.\nNo.'],
    ['above and between the quotes', 'Zero.\n> One?\nYes.\n> Two?\nNo.', 'Zero.\nYes.\nNo.'],
    [
      'above and between selected quotes, above the whole mail',
      `See below.\n\n> One?\nYes.\n\nOn Mon, Nov 30, 2026 Muster <m@a.b>\nwrote:\n\n> ${replyMarker}\n> One?`,
      'See below.\n\nYes.',
    ],
    [
      'below the marker',
      `On Mon, Nov 30, 2026 Muster <m@a.b> wrote:\n\n> ${replyMarker}\n> One?\n\nYes.`,
      'Yes.',
    ],
    ['with a separator', 'Before:\n--\nAfter.', 'Before:\n--\nAfter.'],
    ['that ends with a colon', 'We need:\n\n- this\n', 'We need:\n\n- this'],
    ['that ends with a colon above a quote', 'We need this:\n\n> Ana asks', 'We need this:'],
    ['with control characters', 'A\u0000B\u001b[31mC\u0085', 'AB[31mC'],
    ['of a quote alone', '> Ana asks\n> and Ben', ''],
    ['that is empty', '\n\n', ''],
  ])('%s', (_, mail, text) => {
    expect(replyTextOf(mail)).toBe(text);
  });

  it('is found in linear time', () => {
    const started = performance.now();
    replyTextOf(`${'a:\n'.repeat(200_000)}${'> b\n'.repeat(200_000)}`);
    replyTextOf(`${'_'.repeat(1_000_000)}\n${'-'.repeat(1_000_000)}`);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
