export { bar } from './bar.ts';
export { counted, jsonText, onOneLine, plain } from './plain.ts';
export { table } from './table.ts';
export { dayOf, minuteOf } from './times.ts';
export { endWhenUnread, goOnUnread } from './unread.ts';
