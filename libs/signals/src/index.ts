import { activity } from './operations/activity/handlers.ts';
import { audit } from './operations/audit/handlers.ts';

/** What this lib answers, by namespace. */
export const signalsHandlers = { activity, audit };
