import { attachmentsRegistry } from '@muster/attachments-registry';
import { handle } from '@muster/runtime';
import { listAttachments } from '../../data/attachments.ts';
import { type AttachmentsConfig, readSigning } from './config.ts';

export const createListHandler = (config: AttachmentsConfig) =>
  handle(attachmentsRegistry.attachments.list, (context) =>
    listAttachments(context.db, context.targetId, context.params, () => readSigning(context, config)),
  );
