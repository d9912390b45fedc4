import { inbox } from './inbox.ts';

/** The handler of the inbox. Other libraries handle the rest of the namespace. */
export const agents = { inbox };
