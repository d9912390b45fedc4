import { registry } from '@muster/registry';
import { handle, named, requireProject, requireTeam } from '@muster/runtime';
import { listLeaders } from '../../data/leaderboard.ts';

export const leaderboard = handle(
  registry.gamification.leaderboard,
  async ({ params, caller, db, policy }) => {
    const [page, { gamificationEnabled }] = await Promise.all([
      listLeaders(db, params),
      policy(),
      params.projectId === undefined ? undefined : requireProject(db, caller, params.projectId),
      params.teamId === undefined ? undefined : named('teamId', requireTeam(db, params.teamId)),
    ]);
    return gamificationEnabled ? page : { items: [], nextCursor: null };
  },
);
