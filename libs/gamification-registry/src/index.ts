/** The operations about points, badges and leaderboards. */
import { gamification } from './gamification.ts';

export const gamificationRegistry = { gamification };
export type GamificationRegistry = typeof gamificationRegistry;
