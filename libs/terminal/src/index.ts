export { progressBar } from './bar.ts';
export { exitCodes, UsageError } from './exits.ts';
export { shortestFolderPath, wrapLines } from './lines.ts';
export { formatHeading, type TerminalFormat, stdoutFormat } from './page.ts';
export { countWithNoun, terminalSafeJson, sanitizeToOneLine, sanitizeForTerminal } from './plain.ts';
export { formatTable } from './table.ts';
export { formatDay, formatMinute } from './times.ts';
export { exitWhenOutputCloses, continueWhenOutputCloses } from './unread.ts';
