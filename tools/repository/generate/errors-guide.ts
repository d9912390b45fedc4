/**
 * Generates the table of statuses in the guide about errors from the catalogue. The text around it, which
 * people wrote, stays.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type ErrorCode, errorCodes, reasons, reasonsOf } from '@muster/contract';
import { formatted, repositoryRoot } from '@muster/tools';

export const guideFile = 'docs/guides/errors-and-retries.md';

const begin = '<!-- From here npm run generate writes it. -->';
const end = '<!-- To here. -->';

/**
 * Returns the advice about retries after an error. If the error's code has only one reason, returns the
 * remedy of that reason, which is more precise.
 */
function retryText(code: ErrorCode): string {
  const all = reasonsOf(code);
  const [first, ...more] = all;
  if (first !== undefined && more.length === 0) return reasons[first].remedy;
  const helped = all.filter((reason) => reasons[reason].retryable);
  if (helped.length === 0) return 'no';
  if (helped.length === all.length) return 'after `Retry-After`';
  return `only ${helped.map((reason) => `\`${reason}\``).join(', ')}`;
}

export async function errorsGuide(): Promise<string> {
  const file = path.join(repositoryRoot, guideFile);
  const text = await readFile(file, 'utf8');
  const [before, after] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  const rows = (Object.keys(errorCodes) as ErrorCode[]).map((code) => {
    const { status, meaning } = errorCodes[code];
    return `| ${status} | \`${code}\` | ${meaning} | ${retryText(code)} |`;
  });
  const table = [
    '| status | code | what it means | send the same again? |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
  return formatted(guideFile, `${text.slice(0, before)}\n\n${table}\n\n${text.slice(after)}`);
}
