export { bar } from './bar.ts';
export { exitCodes, UsageError } from './exits.ts';
export { shortFolder, wrapped } from './lines.ts';
export { heading, type TerminalFormat, pageOfStdout } from './page.ts';
export { counted, jsonText, onOneLine, plain } from './plain.ts';
export { table } from './table.ts';
export { dayOf, minuteOf } from './times.ts';
export { endWhenUnread, goOnUnread } from './unread.ts';
