/** The operations about attachments and exports. */
import { attachments } from './attachments.ts';
import { exports } from './exports.ts';

export const attachmentsRegistry = { attachments, exports };
export type AttachmentsRegistry = typeof attachmentsRegistry;
