import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { type AttachmentsConfig } from './config.ts';
import { createCreate } from './create.ts';
import { deleteOperation } from './delete.ts';
import { createGet } from './get.ts';
import { createList } from './list.ts';

export const createAttachmentsHandlers = (config: AttachmentsConfig) =>
  ({
    create: createCreate(config),
    get: createGet(config),
    list: createList(config),
    delete: deleteOperation,
  }) satisfies HandlersOf<Registry['attachments']>;
