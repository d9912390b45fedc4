import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { listTeams } from '../../data/teams.ts';

export const list = handle(organizationsRegistry.teams.list, ({ params, db }) => listTeams(db, params));
