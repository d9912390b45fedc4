/** Separates the text of a reply from the quoted mail and the signature below it. */

/** The first line of mails that can be replied to. Everything from this line on is quoted. */
export const replyMarker = '— Reply above this line to comment —';

const isQuoted = (line: string): boolean => line.startsWith('>');

/** Lines with which mail programs begin the mail that is replied to, in the languages of most of their users. */
const quoteHeads: readonly RegExp[] = [
  /^-{2,} ?(original message|forwarded message|ursprüngliche nachricht|message d'origine|mensaje original)/i,
  /^_{10,}$/,
  /^(from|von|de|da|van): .*@/i,
];
const isSignature = (line: string): boolean => line === '-- ';
const isQuoteHead = (line: string): boolean =>
  line.includes(replyMarker) || quoteHeads.some((head) => head.test(line.trim()));

/** Returns true if the paragraph introduces a quote, such as `On Monday Muster <muster@acme.example> wrote:`. */
const isAttribution = (paragraph: readonly string[]): boolean =>
  paragraph.length <= 3 &&
  paragraph.at(-1)?.trimEnd().endsWith(':') === true &&
  /@|\d{4}|muster/i.test(paragraph.join(' '));

function withoutAttribution(lines: readonly string[]): readonly string[] {
  const end = lines.findLastIndex((line) => line.trim() !== '') + 1;
  const start = lines.findLastIndex((line, index) => index < end && line.trim() === '') + 1;
  return isAttribution(lines.slice(start, end)) ? lines.slice(0, start) : lines;
}

/** Removes characters that texts of comments cannot contain. */
const cleanText = (text: string): string =>
  text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .toWellFormed();

const unquotedText = (lines: readonly string[]): string =>
  lines
    .filter((line) => !isQuoted(line) && !isQuoteHead(line))
    .join('\n')
    .trim();

/** Returns the new text of a mail, which can be above, between and below quoted lines; empty if it has none. */
export function replyTextOf(mailText: string): string {
  const lines = cleanText(mailText).split('\n');
  const signature = lines.findIndex(isSignature);
  const own = signature === -1 ? lines : lines.slice(0, signature);
  const head = own.findIndex(isQuoteHead);
  const aboveHead = head === -1 ? own : withoutAttribution(own.slice(0, head));
  const quote = aboveHead.findIndex(isQuoted);
  const text = unquotedText(
    quote === -1 ? aboveHead : withoutAttribution(aboveHead.slice(0, quote)).concat(aboveHead.slice(quote)),
  );
  const isBelowQuotedMarker = text === '' && isQuoted(own[head] ?? '');
  return isBelowQuotedMarker ? unquotedText(own.slice(head)) : text;
}
