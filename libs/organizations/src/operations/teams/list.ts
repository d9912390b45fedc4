import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listTeams } from '../../data/teams.ts';

export const list = handle(registry.teams.list, ({ params, db }) => listTeams(db, params));
