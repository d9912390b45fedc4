// Formats generated text in the style of .oxfmtrc.json.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { format, type FormatConfig } from 'oxfmt';
import { repositoryRoot } from './repository.ts';

/** `file` determines the language by its extension. Throws if the text does not parse. */
export async function formatted(file: string, text: string): Promise<string> {
  const config = JSON.parse(
    await readFile(path.join(repositoryRoot, '.oxfmtrc.json'), 'utf8'),
  ) as FormatConfig;
  const { singleQuote, printWidth } = config;
  const { code, errors } = await format(path.basename(file), text, {
    ...(singleQuote === undefined ? {} : { singleQuote }),
    ...(printWidth === undefined ? {} : { printWidth }),
  });
  if (errors.length > 0) throw new Error(`${file} is not formatted: ${errors[0]?.message ?? ''}`);
  return code;
}
