import { attachmentsRegistry } from '@muster/attachments-registry';
import { handle } from '@muster/runtime';
import { getExport, toExport } from '../../data/exports.ts';
import { type AttachmentsConfig, readSigning } from '../attachments/config.ts';

export const createGet = (config: AttachmentsConfig) =>
  handle(attachmentsRegistry.exports.get, async (context) => {
    const { params, caller, db } = context;
    const [row, signing] = await Promise.all([
      getExport(db, caller, params.exportId),
      readSigning(context, config),
    ]);
    return { export: toExport(row, signing) };
  });
