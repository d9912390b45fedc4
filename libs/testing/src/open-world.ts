/** The world of a spec, for programs that run without Jest. */
export { openTestDatabase } from './database.ts';
export { openWorld, type OpenWorld, type World } from './world.ts';
