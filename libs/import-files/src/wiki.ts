/** Converts Jira's markup to Markdown. Plain text and everything within code stay unchanged. */

const codeBlockPattern = /\{(code|noformat)(?::([^}]*))?\}\n?([^]*?)\n?\{\1\}/g;

/** Returns the language of a code block, which is the part without a name in `title=a|java`. */
const parseCodeLanguage = (parameters: string | undefined): string =>
  (parameters ?? '').split('|').find((part) => part !== '' && !part.includes('=')) ?? '';

const lineRules: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [/^[ \t]*h([1-6])\.[ \t]+(.*)$/, (_, level = '', text = '') => `${'#'.repeat(Number(level))} ${text}`],
  [/^[ \t]*([*-]+)[ \t]+(.*)$/, (_, marks = '', text = '') => `${'  '.repeat(marks.length - 1)}- ${text}`],
  [/^[ \t]*(#+)[ \t]+(.*)$/, (_, marks = '', text = '') => `${'   '.repeat(marks.length - 1)}1. ${text}`],
  [/^[ \t]*bq\.[ \t]+(.*)$/, (_, text = '') => `> ${text}`],
  [/^[ \t]*-{4,}[ \t]*$/, () => '---'],
];

// Marks around words of one line. They are not within a word (`snake_case`), and not next to space.
const boldPattern = /(?<![\p{L}\p{N}\\*])\*(?![\s*])([^\n]{0,500}?[^\s\\*])\*(?![\p{L}\p{N}*])/gu;
const italicPattern = /(?<![\p{L}\p{N}\\_])_(?![\s_])([^\n]{0,500}?[^\s\\_])_(?![\p{L}\p{N}_])/gu;
const strikethroughPattern = /(?<![\p{L}\p{N}\\\-])-(?![\s\-])([^\n]{0,500}?[^\s\\\-])-(?![\p{L}\p{N}\-])/gu;

/** The name of an attached image, which is not part of an export. */
const attachedImagePattern = /!([^\s!|`][^!|`\n]*\.(?:png|jpe?g|gif|svg|webp|bmp))(?:\|[^!\n]*)?!/gi;

function convertTableHeader(line: string): string {
  const cells = line.trim().replace(/^\|\|/, '').replace(/\|\|$/, '').split('||');
  return `| ${cells.map((cell) => cell.trim()).join(' | ')} |\n|${' --- |'.repeat(cells.length)}`;
}

function convertInlineMarkup(text: string): string {
  return (
    text
      .split(/(\{\{.+?\}\}|https?:\/\/[^\s|\]]+)/)
      .map((part, place) => {
        // Web addresses and monospaced words are left unchanged.
        if (place % 2 === 1) return part.replace(/^\{\{(.+)\}\}$/, '`$1`');
        return part
          .replaceAll(boldPattern, '**$1**')
          .replaceAll(italicPattern, '*$1*')
          .replaceAll(strikethroughPattern, '~~$1~~')
          .replaceAll(/\{color(?::[^}]*)?\}/g, '');
      })
      .join('')
      .replaceAll(/\[([^\]|\n]+)\|((?:https?:|mailto:)[^\]|\s]+)(?:\|[^\]]*)?\]/g, '[$1]($2)')
      .replaceAll(/\[(https?:[^\]|\s]+)\]/g, '<$1>')
      .replaceAll(/!(https?:[^!\s|]+)(?:\|[^!\n]*)?!/g, '![]($1)')
      .replaceAll(attachedImagePattern, '`$1`')
      // Within code a name mentions no member who has the same handle in Muster.
      .replaceAll(/\[~(?:accountid:)?([^\]|\s`]+)\]/g, '`@$1`')
      .replaceAll(/[ \t]+\\\\(?=[ \t]|$)/g, '<br>')
  );
}

function convertLine(line: string): string {
  if (/^[ \t]*\|\|.*\|\|[ \t]*$/.test(line)) return convertTableHeader(convertInlineMarkup(line));
  for (const [pattern, made] of lineRules) {
    const parts = pattern.exec(line);
    if (parts !== null) return convertInlineMarkup(made(...parts));
  }
  return convertInlineMarkup(line);
}

const toQuote = (text: string): string =>
  text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');

/** Converts quotes and panels. The title of a panel becomes its first line. */
const convertQuotes = (text: string): string =>
  text
    .replaceAll(/\{quote\}\n?([^]*?)\n?\{quote\}/g, (_, said: string) => toQuote(said))
    .replaceAll(
      /\{panel(?::([^}]*))?\}\n?([^]*?)\n?\{panel\}/g,
      (_, parameters: string | undefined, body: string) => {
        const title = /(?:^|\|)title=([^|]+)/.exec(parameters ?? '')?.[1];
        return toQuote(title === undefined ? body : `*${title.trim()}*\n\n${body}`);
      },
    );

const convertMarkup = (text: string): string => convertQuotes(text).split('\n').map(convertLine).join('\n');

/** Converts Jira's wiki markup to Markdown. */
export function wikiToMarkdown(text: string): string {
  const clean = text.replaceAll('\r\n', '\n');
  let made = '';
  let end = 0;
  for (const found of clean.matchAll(codeBlockPattern)) {
    const [whole, , said, body = ''] = found;
    // The fence has more backticks than any run of backticks within the code.
    const longest = Math.max(2, ...[...body.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
    const fence = '`'.repeat(longest + 1);
    made += `${convertMarkup(clean.slice(end, found.index))}${fence}${parseCodeLanguage(said)}\n${body}\n${fence}`;
    end = found.index + whole.length;
  }
  return made + convertMarkup(clean.slice(end));
}
