import { attachmentsRegistry } from '@muster/attachments-registry';
import { handle } from '@muster/runtime';
import { getAttachment, toAttachment } from '../../data/attachments.ts';
import { type AttachmentsConfig, readSigning } from './config.ts';

export const createGetHandler = (config: AttachmentsConfig) =>
  handle(attachmentsRegistry.attachments.get, async (context) => {
    const [row, signing] = await Promise.all([
      getAttachment(context.db, context.targetId),
      readSigning(context, config),
    ]);
    return { attachment: toAttachment(row, signing) };
  });
