import { gamification } from './operations/gamification/handlers.ts';

/** What this lib answers, by namespace. */
export const gamificationHandlers = { gamification };

export { syncPoints } from './sync-points.ts';
