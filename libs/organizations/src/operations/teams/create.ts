import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { toTeamEventSubject, teams, toTeam } from '../../data/teams.ts';

export const create = handle(organizationsRegistry.teams.create, async ({ params, db, access, emit }) => {
  const team = teams.make(params, (await access()).at);
  db.deferToCommit(teams.insert(team));
  emit('team.created', toTeamEventSubject(team), {});
  return { team: toTeam(team) };
});
