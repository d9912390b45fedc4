import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { convertLocal } from './convertLocal.ts';
import { create } from './create.ts';
import { deleteOperation } from './delete.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { update } from './update.ts';

export const projects = {
  create,
  get,
  list,
  update,
  delete: deleteOperation,
  convertLocal,
} satisfies HandlersOf<Registry['projects']>;
