import { styleText } from 'node:util';

export interface TerminalFormat {
  /** Columns of the terminal; undefined if the output goes elsewhere. */
  readonly width: number | undefined;
  readonly colored: boolean;
}

export function stdoutFormat(): TerminalFormat {
  const { isTTY, columns } = process.stdout;
  return { width: isTTY ? columns : undefined, colored: isTTY && wantsColor() };
}

/** True unless the variable NO_COLOR is set (https://no-color.org). */
const wantsColor = (): boolean => (process.env['NO_COLOR'] ?? '') === '';

export const formatHeading = (text: string, { colored }: TerminalFormat): string =>
  // `stdoutFormat` has checked the stream already.
  colored ? styleText('bold', text, { validateStream: false }) : text;
