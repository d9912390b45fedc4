import { type BoardRegistry } from '@muster/board-registry';
import { type HandlersOf } from '@muster/runtime';
import { deleteOperation as deleteOfOrg } from './org/delete.ts';
import { list as listOfOrg } from './org/list.ts';
import { upsert as upsertOfOrg } from './org/upsert.ts';
import { deleteOperation as deleteOfProject } from './project/delete.ts';
import { list as listOfProject } from './project/list.ts';
import { upsert as upsertOfProject } from './project/upsert.ts';

export const prompts = {
  org: { upsert: upsertOfOrg, delete: deleteOfOrg, list: listOfOrg },
  project: { upsert: upsertOfProject, delete: deleteOfProject, list: listOfProject },
} satisfies HandlersOf<BoardRegistry['prompts']>;
