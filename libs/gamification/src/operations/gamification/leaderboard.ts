import { gamificationRegistry } from '@muster/gamification-registry';
import { handle, withPathOnNotFound, requireProject, requireTeam } from '@muster/runtime';
import { listLeaderboard } from '../../data/leaderboard.ts';

export const leaderboard = handle(
  gamificationRegistry.gamification.leaderboard,
  async ({ params, caller, db, policy }) => {
    const [page, { gamificationEnabled }] = await Promise.all([
      listLeaderboard(db, params),
      policy(),
      params.projectId === undefined ? undefined : requireProject(db, caller, params.projectId),
      params.teamId === undefined ? undefined : withPathOnNotFound('teamId', requireTeam(db, params.teamId)),
    ]);
    return gamificationEnabled ? page : { items: [], nextCursor: null };
  },
);
