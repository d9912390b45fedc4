import { gamification } from './operations/gamification/handlers.ts';

/** The handlers by namespace. */
export const gamificationHandlers = { gamification };

export { syncPoints } from './sync-points.ts';
