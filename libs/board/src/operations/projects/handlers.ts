import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { accessRequests } from './accessRequests/handlers.ts';
import { assignTeam } from './assignTeam.ts';
import { convertLocal } from './convertLocal.ts';
import { create } from './create.ts';
import { deleteOperation } from './delete.ts';
import { deliveryHealth } from './deliveryHealth.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { members } from './members/handlers.ts';
import { requestAccess } from './requestAccess.ts';
import { list as listTeams } from './teams/list.ts';
import { unassignTeam } from './unassignTeam.ts';
import { update } from './update.ts';
import { waves } from './waves.ts';

/** The handlers about projects. libs/delivery finds conflicts of the work in them. */
export const projects = {
  create,
  get,
  list,
  deliveryHealth,
  waves,
  update,
  delete: deleteOperation,
  convertLocal,
  members,
  assignTeam,
  unassignTeam,
  teams: { list: listTeams },
  requestAccess,
  accessRequests,
} satisfies HandlersOf<BoardRegistry['projects']>;
