import { type AttachmentsRegistry } from '@muster/attachments-registry';
import { type HandlersOf } from '@muster/runtime';
import { type AttachmentsConfig } from '../attachments/config.ts';
import { createBeginHandler } from './begin.ts';
import { createGet } from './get.ts';
import { createList } from './list.ts';

export const createExportsHandlers = (config: AttachmentsConfig) =>
  ({
    begin: createBeginHandler(config),
    get: createGet(config),
    list: createList(config),
  }) satisfies HandlersOf<AttachmentsRegistry['exports']>;
