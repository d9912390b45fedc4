import { groups } from './group-handlers.ts';
import { users } from './user-handlers.ts';

/** The handlers of SCIM, for its routes alone. */
export const scimHandlers = { users, groups };
