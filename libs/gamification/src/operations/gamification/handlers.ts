import { leaderboard } from './leaderboard.ts';
import { profile } from './profile.ts';
import { reset } from './reset.ts';
import { sync } from './sync.ts';

export const gamification = { profile, leaderboard, sync, reset };
