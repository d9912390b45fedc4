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
const isSignature = (line: string): boolean => /^-- ?$/.test(line);
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
  return isAttribution(lines.slice(start, end)) ? lines.slice(0, start) : lines.slice(0, end);
}

/** Removes characters that texts of comments cannot contain. */
const cleanText = (text: string): string =>
  text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .toWellFormed();

/** Returns the new text of a mail; empty if it has none. */
export function replyTextOf(mailText: string): string {
  const lines = cleanText(mailText).split('\n');
  const signature = lines.findIndex(isSignature);
  const own = signature === -1 ? lines : lines.slice(0, signature);
  const quote = own.findIndex((line) => isQuoted(line) || isQuoteHead(line));
  if (quote === -1) return own.join('\n').trim();
  const above = withoutAttribution(own.slice(0, quote)).join('\n').trim();
  if (above !== '' || !isQuoted(own[quote] ?? '')) return above;
  // The reply is below the quote or between its lines.
  return own
    .slice(quote)
    .filter((line) => !isQuoted(line) && !isQuoteHead(line))
    .join('\n')
    .trim();
}
