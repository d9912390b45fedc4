import { type AttachmentsRegistry } from '@muster/attachments-registry';
import { type HandlersOf } from '@muster/runtime';
import { type AttachmentsConfig } from './config.ts';
import { createCreateHandler } from './create.ts';
import { deleteOperation } from './delete.ts';
import { createGetHandler } from './get.ts';
import { createListHandler } from './list.ts';

export const createAttachmentsHandlers = (config: AttachmentsConfig) =>
  ({
    create: createCreateHandler(config),
    get: createGetHandler(config),
    list: createListHandler(config),
    delete: deleteOperation,
  }) satisfies HandlersOf<AttachmentsRegistry['attachments']>;
